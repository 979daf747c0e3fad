/** The agent that the judge asks behind a published server, and what it must say to get each behavior. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConformanceOptions } from '@parley/cli/conformance'
import type { AgentScript } from '../client/agent-script.ts'

/** Long enough for a busy machine to subscribe to the task and to cancel it. */
const chunks = 40

export const judgeScript: AgentScript = async (stage, _holds, canceled) => {
  const [verb = ''] = stage.text.split(' ')
  if (verb === 'reply') return stage.reply('A message without a task')
  stage.open()
  if (stage.isAnswer) return stage.end('COMPLETED', 'Thank you')
  switch (verb) {
    case 'reject':
      return stage.end('REJECTED', 'Not my job')
    case 'fail':
      throw new Error('connect to postgres://user:secret@db/prod failed')
    case 'slow': {
      stage.working('Started')
      let isCanceled = false
      void canceled.then(() => (isCanceled = true))
      for (let chunk = 1; chunk <= chunks && !isCanceled; chunk += 1) {
        stage.chunk('answer', `${chunk} `, { append: chunk > 1, last: chunk === chunks })
        await sleep(25)
      }
      return stage.end(isCanceled ? 'CANCELED' : 'COMPLETED')
    }
    default:
      stage.working('Thinking')
      stage.chunk('answer', `You said ${stage.text}`, { append: false, last: true })
      return stage.end('COMPLETED')
  }
}

/**
 * Without a message that makes the agent ask: these servers never answer a cancel of a task that waits, if its agent publishes
 * nothing then.
 */
export const judgeOptions: ConformanceOptions = {
  profile: {
    messages: {
      slow: { text: 'slow' },
      message: { text: 'reply' },
      reject: { text: 'reject' },
      fail: { text: 'fail' },
    },
  },
  patienceMs: 3_000,
  maxMessages: 2_000,
  checkTimeoutMs: 60_000,
}
