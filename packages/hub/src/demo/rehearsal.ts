/**
 * The demo agent `rehearsal`: the first word of a message decides how its task goes, so that a client, a script or
 * `a2a conformance --profile parley-demo` meets every state on request.
 */
import { artifact, authRequired, fail, file, inputRequired, reject, reply, status } from '@parley/a2a'
import type { Agent, AgentSkill, Message, Report, Turn } from '@parley/a2a'
import { countSeconds } from './clock.ts'

export const rehearsal: Agent = {
  // Repeating an answer is harmless, and `work` continues where it stopped.
  resume: 'rerun',
  async *run(turn): AsyncGenerator<Report> {
    if (await isAnswer(turn)) yield `Thank you. You said: ${turn.text}`
    else yield* rehearse(turn)
  },
}

async function* rehearse(turn: Turn): AsyncGenerator<Report> {
  const [command = '', argument = '10'] = wordsOf(turn.text)
  switch (command) {
    case 'ask':
      yield inputRequired('What is your name?')
      return
    case 'auth':
      yield authRequired('Sign in, then send any message. This is a rehearsal: every message counts as signed in.')
      return
    case 'work':
      yield status('Working')
      yield* countSeconds(argument, turn)
      return
    case 'files':
      yield* writeFiles()
      return
    case 'fail':
      yield fail('This task failed because you asked for a failure.')
      return
    case 'crash':
      throw new Error('This turn ended with an exception because the caller asked for a crash.')
    case 'reject':
      yield reject('This task was rejected because you asked for a rejection.')
      return
    case 'reply':
      yield reply('This is a direct message: it has no task.')
      return
    default:
      yield help
  }
}

/** Three files, one event each, and then a text in two chunks. */
function* writeFiles(): Generator<Report> {
  yield status('Writing three files')
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  const shape = '<circle cx="32" cy="32" r="30" fill="steelblue"/>'
  const circle = `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">${shape}</svg>\n`
  yield file(bytes('A file of plain text.\n'), { name: 'notes.txt', mediaType: 'text/plain' })
  yield file(bytes('number,square\n1,1\n2,4\n3,9\n'), { name: 'squares.csv', mediaType: 'text/csv' })
  yield file(bytes(circle), { name: 'circle.svg', mediaType: 'image/svg+xml' })
  yield artifact('summary', { text: 'Three files: ' })
  yield artifact('summary', { text: 'a text, a table and a picture.', append: true, last: true })
}

/** Whether the message before this one made the task wait. */
async function isAnswer({ history, message }: Turn): Promise<boolean> {
  const sent = (await history()).filter(({ role }) => role === 'ROLE_USER')
  const earlier = sent[sent.findIndex(({ messageId }) => messageId === message.messageId) - 1]
  return earlier !== undefined && ['ask', 'auth'].includes(wordsOf(textOf(earlier))[0] ?? '')
}

const textOf = ({ parts }: Message): string => parts.map((part) => ('text' in part ? part.text : '')).join('')

const wordsOf = (text: string): readonly string[] => text.trim().toLowerCase().split(/\s+/)

const skill = (id: string, name: string, description: string, ...examples: string[]): AgentSkill => ({
  id,
  name,
  description,
  tags: ['demo'],
  examples,
})

export const rehearsalSkills: readonly AgentSkill[] = [
  skill('ask', 'Ask', 'Asks a question, waits for the answer, then completes', 'ask'),
  skill('auth', 'Require a sign-in', 'Waits for credentials, then completes', 'auth'),
  skill('work', 'Work', 'Works for a number of seconds, one chunk each', 'work 10'),
  skill('files', 'Write files', 'Streams three files and a text', 'files'),
  skill('fail', 'Fail', 'Ends the task as failed: with a reason, or by an exception', 'fail', 'crash'),
  skill('reject', 'Reject', 'Rejects the task', 'reject'),
  skill('reply', 'Reply', 'Answers with a message and without a task', 'reply'),
]

const help = `Send one of these to rehearse how a task goes:\n\n${rehearsalSkills
  .map(({ description, examples = [] }) => `- ${examples.map((one) => `\`${one}\``).join(' or ')}: ${description}`)
  .join('\n')}`
