/** The agent of these servers: the first word of a message names what it does. Its hints for the judge are `agentProfile`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { artifact, authRequired, inputRequired, reject, reply, status } from '@parley/a2a'
import type { Report, Turn } from '@parley/a2a'

export async function* scriptedAgent({ text, signal, history }: Turn): AsyncGenerator<Report> {
  const [verb = ''] = text.split(' ')
  if ((await history()).length > 1 && verb !== 'slow') {
    yield `You said ${text}`
    return
  }
  switch (verb) {
    case 'reply':
      yield reply('A message without a task')
      return
    case 'ask':
      yield inputRequired('Which city?')
      return
    case 'login':
      yield authRequired('Open https://example.com/login, then send any message')
      return
    case 'reject':
      yield reject('Not my job')
      return
    case 'fail':
      throw new Error('the database at db.internal is down')
    case 'slow':
      yield status('Started')
      for (let chunk = 1; chunk <= 8; chunk += 1) {
        await sleep(25, undefined, { signal })
        yield artifact('answer', { text: `${chunk} `, append: chunk > 1, last: chunk === 8 })
      }
      return
    default:
      yield status('Thinking')
      yield artifact('answer', { text: `You said ${text}`, last: true })
  }
}
