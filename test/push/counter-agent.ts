/** The agent of the servers of these tests, and their push options. */
import { setTimeout as sleep } from 'node:timers/promises'
import { artifact, type Agent, type Report, type Turn } from '@parley/a2a'
import type { ServePushOptions } from '@parley/a2a/internal'

/** Continues where the log ends, so that the log has each number exactly once. */
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

/** A retry schedule for tests: many quick attempts instead of nine slow ones. */
export const fastPushOptions: ServePushOptions = {
  allow: ['127.0.0.1'],
  triggers: 'all',
  timeoutMs: 250,
  scheduleMs: Array.from({ length: 500 }, () => 20),
}
