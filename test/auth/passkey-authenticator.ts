// A passkey for tests, implemented by WebAuthn without the service's library: the correct answers of an authenticator and its browser, and wrong
// ones.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { AccountsService, Answer, SignedIn } from '../services/accounts-service.ts';
import { from, testSignIn } from '../services/sign-in.ts';

interface Options {
  challenge: string;
  rp?: { id: string };
  rpId?: string;
  user?: { id: string };
}

/** The differences of an answer from a correct one. */
export interface Wrong {
  origin?: string;
  rpId?: string;
  type?: string;
  /** By default the user is present and verified. */
  flags?: number;
  count?: number;
  userHandle?: string;
  /** Signs instead of the passkey's own key. */
  signer?: Passkey;
}

const present = 0x01;
const verified = 0x04;
const attested = 0x40;
export const presentOnly = present;

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest();

/** A passkey that signs with ECDSA on P-256, like most. @param counts whether it counts its signatures. */
export class Passkey {
  readonly id = randomBytes(32);
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #counts: boolean;
  #count = 0;
  #userHandle = '';

  constructor({ counts = false } = {}) {
    this.#counts = counts;
  }

  /** The result of `navigator.credentials.create`, as JSON. */
  create(options: Options, wrong: Wrong = {}) {
    this.#userHandle = options.user?.id ?? '';
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const key = Buffer.concat([Buffer.alloc(16), length, this.id, this.#publicKey()]);
    const authData = Buffer.concat([this.#signed(options, wrong, attested), key]);
    const attestationObject = cbor(
      new Map<string, Cbor>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    );
    const response = {
      clientDataJSON: clientData('webauthn.create', options, wrong).toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
    };
    return { ...this.#members(), response };
  }

  /** The result of `navigator.credentials.get`, as JSON. */
  get(options: Options, wrong: Wrong = {}) {
    if (this.#counts) this.#count += 1;
    const authenticatorData = this.#signed(options, wrong, 0);
    const client = clientData('webauthn.get', options, wrong);
    const signature = (wrong.signer ?? this).signatureOf(Buffer.concat([authenticatorData, sha256(client)]));
    const response = {
      clientDataJSON: client.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: wrong.userHandle ?? this.#userHandle,
    };
    return { ...this.#members(), response };
  }

  signatureOf(data: Buffer): Buffer {
    return sign('sha256', data, this.#keys.privateKey);
  }

  get userHandle(): string {
    return this.#userHandle;
  }

  #members() {
    const id = this.id.toString('base64url');
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {} };
  }

  #signed(options: Options, wrong: Wrong, more: number): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(wrong.count ?? this.#count);
    const rpId = wrong.rpId ?? options.rpId ?? options.rp?.id ?? '';
    const flags = (wrong.flags ?? present | verified) | more;
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count]);
  }

  /** In COSE format: an EC2 key for ES256 on P-256. */
  #publicKey(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    return cbor(
      new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]),
    );
  }
}

function clientData(type: string, { challenge }: Options, wrong: Wrong): Buffer {
  const origin = wrong.origin ?? testSignIn.publicUrl;
  return Buffer.from(JSON.stringify({ type: wrong.type ?? type, challenge, origin, crossOrigin: false }));
}

type Cbor = number | string | Buffer | Map<number | string, Cbor>;

/** The part of RFC 8949 that a passkey needs. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, value.length), Buffer.from(value)]);
  const members = [...value].flatMap(([name, member]) => [cbor(name), cbor(member)]);
  return Buffer.concat([head(5, value.size), ...members]);
}

function head(kind: number, argument: number): Buffer {
  const first = kind << 5;
  if (argument < 24) return Buffer.from([first | argument]);
  return argument < 256
    ? Buffer.from([first | 24, argument])
    : Buffer.from([first | 25, argument >> 8, argument & 255]);
}

type Proof = { password?: string; code?: string };

/** The actions of holders with passkeys. */
export function passkeysOf(service: AccountsService) {
  const begin = (by: SignedIn, proof: Proof, headers = {}) =>
    service.signedIn(by, '/auth/passkeys/options', { body: proof, headers });
  const finish = (by: SignedIn, credential: object, name = 'Laptop', headers = {}) =>
    service.signedIn(by, '/auth/passkeys', { body: { name, credential }, headers });
  const beginSignIn = () => service.anonymously('/auth/login/passkey/options', { method: 'POST' });
  const finishSignIn = (credential: object, headers = from()) =>
    service.anonymously('/auth/login/passkey', { body: { credential }, headers });
  const optionsIn = ({ status, body }: Answer): Options => {
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return (body as { data: { options: Options } }).data.options;
  };
  return {
    ...{ begin, finish, beginSignIn, finishSignIn, optionsIn },
    /** Adds a passkey. @throws Error if that fails. @returns it, and its id here. */
    async add(by: SignedIn, proof: Proof, { passkey = new Passkey(), name = 'Laptop', headers = {} } = {}) {
      const options = optionsIn(await begin(by, proof, headers));
      const answer = await finish(by, passkey.create(options), name, headers);
      if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      return { passkey, id: (answer.body as { data: { id: string } }).data.id };
    },
    /** Attempts to sign in with a passkey. */
    async signIn(passkey: Passkey, wrong: Wrong = {}, headers = from()): Promise<Answer> {
      return finishSignIn(passkey.get(optionsIn(await beginSignIn()), wrong), headers);
    },
  };
}
