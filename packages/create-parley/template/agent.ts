/** The agent: a function of one turn of a task. What it yields is stored, then sent to the client. */
import type { Turn } from '@parley/a2a'

export async function* agent({ text }: Turn) {
  yield `Hello, ${text}!`
}
