// nginx for the bench: the upstream with one fixed answer, and the competing gateway in Lua, which looks up a key, counts the month in Redis, and
// proxies or answers from its cache. Uses Debian's nginx, libnginx-mod-http-lua and lua-nginx-redis.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { newestLoadPath, validityHeader, validityText } from '../../kernel/http/validity.ts';
import { freePort } from '../../test/services/instance.ts';
import { startOn, targetCore, upstreamCore } from './processes.ts';

export interface NginxServer {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

const modules = '/usr/lib/nginx/modules';

/** Whether all its packages are installed. */
export function hasNginx(): boolean {
  const probe = spawnSync('ls', [`${modules}/ngx_http_lua_module.so`, '/usr/share/lua/5.1/nginx/redis.lua']);
  return probe.status === 0 && spawnSync('nginx', ['-v']).status === 0;
}

/** Answers every URL with one body, which gateways may cache: it reports its validity and the newest load, like data-api. */
export async function startUpstream(directory: string, body: string): Promise<NginxServer> {
  const port = await freePort();
  const root = path.join(directory, 'upstream-root');
  mkdirSync(root);
  writeFileSync(path.join(root, 'body.json'), body);
  const state = { edition: 'bench', load: 1 };
  const http = `server {
    listen 127.0.0.1:${port};
    root ${root};
    default_type application/json;
    add_header x-request-id $http_x_request_id;
    add_header ${validityHeader} "${validityText({ state, forMs: Infinity })}";
    location = ${newestLoadPath} { return 200 '${JSON.stringify(state)}'; }
    location / { try_files /body.json =404; }
  }`;
  return {
    url: `http://127.0.0.1:${port}`,
    ...(await startNginx(directory, 'upstream', upstreamCore, http)),
  };
}

/**
 * Looks up `key:<value>` → account, counts `quota:<account>:<month>`, refuses beyond the limit, and proxies. @param options.cached whether it also
 * caches the answers, as cheaply as nginx can: for ten minutes regardless of data changes, with open file handles.
 */
export async function startLuaGateway(
  directory: string,
  options: { name: string; upstreamUrl: string; redisPort: number; cached: boolean },
): Promise<NginxServer> {
  const port = await freePort();
  const own = path.join(directory, options.name);
  const cache = `proxy_cache answers; proxy_cache_valid 200 10m; proxy_cache_key $request_uri;
      proxy_ignore_headers Cache-Control Expires Vary; open_file_cache max=1000;`;
  const http = `
  upstream service { server ${new URL(options.upstreamUrl).host}; keepalive 64; }
  ${options.cached ? `proxy_cache_path ${own}/cache keys_zone=answers:10m max_size=256m use_temp_path=off;` : ''}
  server {
    listen 127.0.0.1:${port};
    keepalive_requests 1000000;
    access_log ${own}/access.log combined buffer=64k flush=1s; # the gateway beside it gathers its lines as well
    location / {
      access_by_lua_block {
        local key = ngx.var.http_x_api_key
        if not key then return ngx.exit(401) end
        local red = require('nginx.redis'):new()
        red:set_timeout(2000)
        local ok = red:connect('127.0.0.1', ${options.redisPort})
        if not ok then return ngx.exit(503) end
        local account = red:get('key:' .. key)
        if not account or account == ngx.null then return ngx.exit(401) end
        local used = red:incr('quota:' .. account .. ':' .. os.date('!%Y-%m'))
        red:set_keepalive(10000, 64)
        if not used then return ngx.exit(503) end
        if used > 1000000000 then return ngx.exit(402) end
        ngx.req.set_header('X-Account', account)
      }
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection '';
      ${options.cached ? cache : ''}
    }
  }`;
  return {
    url: `http://127.0.0.1:${port}`,
    ...(await startNginx(directory, options.name, targetCore, http)),
  };
}

async function startNginx(
  directory: string,
  name: string,
  core: string,
  http: string,
): Promise<Omit<NginxServer, 'url'>> {
  const prefix = path.join(directory, name);
  mkdirSync(prefix);
  const file = path.join(prefix, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${prefix}/pid; error_log stderr notice;
load_module ${modules}/ndk_http_module.so;
load_module ${modules}/ngx_http_lua_module.so;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
  lua_package_path '/usr/share/lua/5.1/?.lua;;';
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((temp) => `${temp}_temp_path ${prefix};`).join(' ')}
  ${http}
}`,
  );
  const where = { core, outputFile: path.join(prefix, 'output') };
  return startOn(where, ['nginx', '-p', prefix, '-c', file], /start worker process (\d+)/);
}
