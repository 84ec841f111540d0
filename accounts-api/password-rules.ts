// Which passwords are taken: long enough, and none of those that are tried first. Says why one is refused.
// The list is our own: stems that people build passwords from, and the ways they dress them up. So "P@ssw0rd2024!" falls with
// "password", without a copy of leaked passwords in the repository.
import { fail } from '../kernel/errors.ts';

export const passwordLengthMax = 256;

// Common stems, lower case, of four letters and more; seasons, names, teams, pets, places, and words of affection.
const stems = new Set(
  `aaaa abcd abc123 access account admin administrator almanac amanda andrea andrew angel angels anthony apple apples april
  arsenal ashley asdf asdfgh asdfghjkl august austin babygirl bailey banana barcelona baseball basketball batman beautiful
  beer bitch blink blue blahblah bond boomer brandon buster butterfly calvin canada carlos cats changeme changeit charles
  charlie cheese chelsea chester chicken chocolate chris christian computer cookie corvette cowboy cowboys crystal
  dallas daniel database david december default demo dennis diamond doctor dolphin donald dragon eagle eagles eminem
  engineer enter everton facebook family fender ferrari flower flowers football forever forgot formula freedom friday friend
  friends fuckoff fuckyou future gandalf garfield gemini george ginger gold golden golfer google guest guitar hannah
  happy harley heather hello hellohello hello123 hockey hottie hunter iceman iloveu iloveyou india internet jackson james
  january jasmine jennifer jessica jesus jesuschrist jordan joseph joshua july june junior justin killer king kitten
  knight lakers lauren letmein letme linkedin liverpool london loveme lovely lover loves machine maggie manager manchester
  march marina marine marlboro martin master matrix matthew maverick mercedes merlin michael michelle mickey midnight
  minecraft mustang money monday monika monkey monster morgan mother music mylove myspace naruto nascar natasha nathan nicole
  nothing november october oliver online orange packers pakistan panther pass passw passwd password passwort passme
  patrick peaches peanut pepper phoenix please pokemon porsche power princess private purple qazwsx qqww qwer qwert qwerty
  qwertyu qwertyuiop qwertz rachel raiders rainbow ranger rangers redsox richard robert rocket root samantha samsung sample
  saturday scooter scorpion secret secure security september server service shadow shannon silver simple slipknot smokey
  snoopy soccer sophie spider spiderman spring starwars steelers summer sunday sunshine super superman superuser support
  sweet sweety system taylor temp temporary tennis test tester testing testtest thomas thunder tiger tigers tigger tinkerbell
  trust trustno tuesday tweety unknown user username vanessa victoria viking wednesday welcome welcomehome whatever william
  winner winter wizard work yamaha yankees yellow zaq1zaq1 zxcv zxcvb zxcvbn zxcvbnm`.split(/\s+/),
);

// Rows of keyboards, the alphabet and the digits: any stretch of them, either way, is a walk and no password.
const walks = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'azertyuiop',
];
const columns = [
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '1q2w3e4r5t6y7u8i9o0p',
  'qazwsxedcrfvtgbyhnujm',
  'q1w2e3r4t5y6',
];

const leet: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/**
 * Refuses a new password that is too short, too long or too easy.
 * @param field the name of the body's field, for the message. @param context words that say whose it is: address, name.
 * @throws Failure `invalid_body`.
 */
export function requireGoodPassword(
  password: string,
  { field, lengthMin, context }: { field: string; lengthMin: number; context: readonly (string | null)[] },
): void {
  const refuse = (reason: string): never => fail('invalid_body', `"${field}": ${reason}.`, { param: field });
  const length = Array.from(password).length; // code points, not UTF-16 units
  if (!password.isWellFormed()) refuse('must be valid Unicode');
  if (length < lengthMin) refuse(`must have at least ${lengthMin} characters`);
  if (length > passwordLengthMax) refuse(`must have at most ${passwordLengthMax} characters`);
  if (isCommon(password))
    refuse('is among the first that are tried; choose another, for example four unrelated words');
  const words = context.flatMap((text) => (text ?? '').toLowerCase().split(/[^\p{L}\p{N}]+/u));
  if (isMadeOf(password, words)) refuse('must not be made of your name or your e-mail address');
}

/** Whether a password is a common one, dressed up or not. */
export function isCommon(password: string): boolean {
  const plain = password.toLowerCase();
  if (new Set(plain).size <= 2 || isRepeated(plain) || isWalk(plain) || isDateOrNumber(plain)) return true;
  return [plain, undress(plain)].some((text) => {
    const core = text.replace(/^[^a-z]+|[^a-z]+$/g, '');
    return (
      stems.has(text) ||
      stems.has(core) ||
      stems.has(core.replace(/s$/, '')) ||
      isRepeatedStem(core) ||
      isWalk(core)
    );
  });
}

/** Whether nothing but a word of the context, figures and signs is in it. */
function isMadeOf(password: string, words: readonly string[]): boolean {
  const plain = password.toLowerCase();
  return words.some((word) => word.length >= 4 && plain.includes(word) && plain.length - word.length < 5);
}

/** Letters for the figures and signs that stand in for them, leaving out what is only appended. */
function undress(text: string): string {
  return text.replace(/[\d!?.,*#_-]+$/, '').replaceAll(/[0134578@$!]/g, (sign) => leet[sign] ?? sign);
}

/** `abcabcabc`: a beginning of at most four characters, again and again. */
function isRepeated(text: string): boolean {
  return /^(.{1,4})\1+.{0,3}$/s.test(text);
}

function isRepeatedStem(core: string): boolean {
  const half = core.slice(0, core.length / 2);
  return core === half + half && stems.has(half);
}

function isWalk(text: string): boolean {
  if (text.length < 4) return false;
  const lines = [...walks.map((walk) => walk + walk), ...columns];
  const backwards = Array.from(text).reverse().join('');
  if (lines.some((line) => line.includes(text) || line.includes(backwards))) return true;
  const halves =
    /^([a-z]+)([\d]+)$|^(\d+)([a-z]+)$/
      .exec(text)
      ?.slice(1)
      .filter((part) => part !== undefined) ?? [];
  return (
    halves.length === 2 && halves.every((part) => part.length < 3 || isWalk(part) || new Set(part).size === 1)
  );
}

/** Figures alone, with or without signs between them, are a date, a telephone number or a count: up to twelve of them. */
function isDateOrNumber(text: string): boolean {
  return /^[\d\s./:+-]+$/.test(text) && text.replaceAll(/\D/g, '').length <= 12;
}
