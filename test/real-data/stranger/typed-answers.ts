// A command at a pseudo-terminal whose questions are answered as they appear. Hides how a question is recognised.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A question, and the typed answer. */
export interface Exchange {
  question: string;
  answer: string;
}

const endWithinMs = 240_000;
/** The end of a question of `almanac publish`: nothing follows it until an answer is typed. */
const question = /(?:\(\d+ of \d+\) [^]*(?:press Enter [^]*): |\[y\/N\] )$/;

/**
 * Runs a command line at a separate terminal, with `script` of util-linux.
 * @param answerTo is given the question as it is shown. @returns all questions, and the output.
 * @throws Error with the output if the command does not exit with 0.
 */
export async function runAnswering(
  command: string,
  options: { cwd: string; env: NodeJS.ProcessEnv },
  answerTo: (question: string) => string,
): Promise<{ exchanges: Exchange[]; printed: string }> {
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    ...options,
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: endWithinMs,
  });
  const exchanges: Exchange[] = [];
  let printed = '';
  let answeredUntil = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text.replaceAll('\r\n', '\n');
    const asked = question.exec(printed.slice(answeredUntil));
    if (asked === null) return;
    answeredUntil = printed.length;
    const answer = answerTo(asked[0]);
    exchanges.push({ question: asked[0], answer });
    child.stdin.write(`${answer}\n`);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${printed}`);
  return { exchanges, printed };
}
