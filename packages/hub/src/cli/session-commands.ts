/** `parley session list | end`: who is signed in at the console of a hub that runs. */
import { ask, hubDetails, hubFlags } from './ask-hub.ts'
import { Complaint } from './command.ts'
import type { Command } from './command.ts'

interface ListedSession {
  readonly id: string
  readonly subject: string
  readonly by: string
  readonly createdAt: string
  readonly lastUsedAt: string
  readonly expiresAt: string
  readonly from?: string
}

interface SessionPage {
  readonly sessions: readonly ListedSession[]
  readonly after?: string
}

export const sessionList: Command = {
  name: 'session list',
  summary: 'Lists the sessions of the console.',
  details: hubDetails,
  flags: hubFlags,
  async run(flags, terminal) {
    let after: string | undefined
    do {
      const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`
      const page: SessionPage = await ask(flags, terminal, 'GET', `/admin/sessions${query}`)
      for (const { id, subject, by, createdAt, lastUsedAt, expiresAt, from = 'unknown address' } of page.sessions) {
        const times = [`since ${createdAt}`, `last used ${lastUsedAt}`, `until ${expiresAt}`]
        terminal.say([id, subject, `by ${by}`, `from ${from}`, ...times].join('  '))
      }
      after = page.after
    } while (after !== undefined)
    return 0
  },
}

export const sessionEnd: Command = {
  name: 'session end',
  takes: '<id>',
  summary: 'Ends a session of the console immediately.',
  details: hubDetails,
  flags: hubFlags,
  async run(flags, terminal) {
    const [id] = flags.words
    if (id === undefined) throw new Complaint('Name the session: `parley session list` shows their ids.')
    await ask(flags, terminal, 'DELETE', `/admin/sessions/${encodeURIComponent(id)}`)
    terminal.say(`Session ${id} has ended.`)
    return 0
  },
}
