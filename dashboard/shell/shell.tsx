// The frame of every page: the bar with mark, search and navigation, and the footer.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { session } from '../api/session.ts';
import { Mark, MenuIcon } from '../components/icons.tsx';
import { useKeptFocus, useNavigations } from '../components/focus.ts';
import { Search, useSearchKey } from './search.tsx';

const places = [
  { name: 'Catalogue', path: '/catalogue' },
  { name: 'Compare', path: '/compare' },
  { name: 'Calendar', path: '/calendar' },
  { name: 'Plans', path: '/plans' },
  { name: 'Docs', path: '/docs' },
  { name: 'Status', path: '/status' },
] as const;

export function Shell({ children }: { children: ComponentChildren }) {
  useNavigations();
  useKeptFocus();
  useSearchKey();
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <TopBar />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer class="foot">
        <div class="wrap">
          <span>{location.host}</span>
          <Link href="/status">Status</Link>
          <Link href="/docs">Docs</Link>
          <Link href="/plans">Plans</Link>
          <span class="right">All times UTC · Almanac {__ALMANAC_VERSION__}</span>
        </div>
      </footer>
    </>
  );
}

function TopBar() {
  const [path] = useLocation();
  const isLargeSearchHidden = useLargeSearchHidden(path);
  return (
    <header class="top">
      <div class="wrap">
        <Link class="brand" href="/" aria-label="Almanac, home">
          <Mark />
          <span>Almanac</span>
        </Link>
        {(path !== '/' || isLargeSearchHidden) && <Search />}
        <nav class="nav" aria-label="Main">
          <Places path={path} />
        </nav>
        <Account />
        <Menu path={path} />
      </div>
    </header>
  );
}

function Places({ path }: { path: string }) {
  return (
    <>
      {places.map(({ name, path: at }) => (
        <Link key={at} href={at} aria-current={currentOf(path, at)}>
          {name}
        </Link>
      ))}
    </>
  );
}

function currentOf(path: string, at: string): 'page' | 'true' | undefined {
  if (path === at) return 'page';
  return path.startsWith(`${at}/`) ? 'true' : undefined;
}

function Account() {
  if (session.value !== undefined) {
    return (
      <div class="who">
        <Link class="btn" href="/dashboard">
          Account
        </Link>
      </div>
    );
  }
  return (
    <div class="who">
      <Link class="hide" href="/sign-in">
        Sign in
      </Link>
      <Link class="btn main" href="/sign-up">
        Get a key
      </Link>
    </div>
  );
}

/** The navigation on a phone. Following a link, Esc, or a click elsewhere closes it. */
function Menu({ path }: { path: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => setIsOpen(false), [path]);
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = (event: Event) => {
      if (
        event instanceof KeyboardEvent
          ? event.key === 'Escape'
          : !menu.current?.contains(event.target as Node)
      )
        setIsOpen(false);
    };
    document.addEventListener('keydown', close);
    document.addEventListener('pointerdown', close);
    return () => {
      document.removeEventListener('keydown', close);
      document.removeEventListener('pointerdown', close);
    };
  }, [isOpen]);
  return (
    <div class="menu" ref={menu}>
      <button type="button" aria-label="Menu" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <MenuIcon />
      </button>
      {isOpen && (
        <nav aria-label="Menu">
          <Places path={path} />
          {session.value === undefined ? (
            <Link href="/sign-in">Sign in</Link>
          ) : (
            <Link href="/dashboard">Account</Link>
          )}
        </nav>
      )}
    </div>
  );
}

/** Whether the front page has scrolled its large search away, so that the bar shows the small one. */
function useLargeSearchHidden(path: string): boolean {
  const [isHidden, setIsHidden] = useState(false);
  useEffect(() => {
    setIsHidden(false);
    if (path !== '/') return undefined;
    const look = () => {
      const box = document.querySelector('input[data-search="large"]');
      setIsHidden(box !== null && box.getBoundingClientRect().bottom < 60);
    };
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, [path]);
  return isHidden;
}
