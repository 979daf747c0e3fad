/** The agents behind the proxies. They continue when the test allows it, so that the tests need no clock. */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { artifact } from '@parley/a2a'
import type { Agent, Report, Turn } from '@parley/a2a'

/**
 * `name 3`: three numbers. It says number n when the file `name.n` exists in the folder of the hub. After a restart it
 * continues where the log ends.
 */
export const gate: Agent = {
  resume: 'rerun',
  async *run({ text, resumed, signal }: Turn): AsyncGenerator<Report> {
    const [name, until] = text.split(' ')
    const said = resumed?.task.artifacts?.flatMap(({ parts }) => parts) ?? []
    const before = said.map((part) => ('text' in part ? part.text : '')).join('')
    for (let n = before.split(' ').length - 1; n < Number(until); n += 1) {
      while (!existsSync(`${name}.${n}`)) await sleep(20, undefined, { signal })
      yield artifact('numbers', { text: `${n} `, append: n > 0, last: n === Number(until) - 1 })
    }
  },
}

/** As many characters as the message says. */
export async function* large({ text }: Turn): AsyncGenerator<Report> {
  yield artifact('large', { text: 'x'.repeat(Number(text)), last: true })
}

/** Which hub it is, and how many characters it received. */
export async function* whoami({ text }: Turn): AsyncGenerator<Report> {
  yield `${process.env['HUB_NAME']} received ${text.length} characters`
}
