/** What the servers of these tests run, and how they tell of it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { artifact } from '@parley/a2a'
import type { Agent, Report, Turn } from '@parley/a2a'
import type { ServePushOptions } from '@parley/a2a/node'

/** Goes on where the log ends, so that each number is there exactly once. */
export const counter: Agent = {
  resume: 'rerun',
  async *run({ text, resumed }: Turn): AsyncGenerator<Report> {
    const written = resumed?.task.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? ''
    const until = Number(text)
    for (let n = written.split(' ').length - 1; n < until; n += 1) {
      if (n % 3 === 0) await sleep(5)
      yield artifact('count', { text: `${n} `, append: n > 0, last: n === until - 1 })
    }
  },
}

/** Patience of a kind that fits a test: many quick tries instead of nine slow ones. */
export const fastPushOptions: ServePushOptions = {
  allow: ['127.0.0.1'],
  triggers: 'all',
  timeoutMs: 250,
  scheduleMs: Array.from({ length: 500 }, () => 20),
}
