/** Repeats the message, one word at a time, after a status message. */
import { reply, status } from '@parley/a2a'
import type { Report, Turn } from '@parley/a2a'

export default async function* ({ text, caller }: Turn): AsyncGenerator<Report, void, undefined> {
  if (text === 'reply') return yield reply('at once')
  if (text === 'who') return yield `${caller.id} ${(caller.scopes ?? []).join(',')}`
  yield status(`Thinking about ${text}`)
  for (const word of text.split(' ')) yield `${word} `
}
