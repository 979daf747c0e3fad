/** `parley session list | end`: the console sessions of a running hub. */
import { adminPages, hubDetails, hubFlags, requestAdmin } from './admin-request.ts'
import { CliError } from './command.ts'
import type { Command } from './command.ts'

interface SessionJson {
  readonly id: string
  readonly subject: string
  readonly by: string
  readonly createdAt: string
  readonly lastUsedAt: string
  readonly expiresAt: string
  readonly from?: string
}

interface SessionPageJson {
  readonly sessions: readonly SessionJson[]
  readonly after?: string
}

export const sessionList: Command = {
  name: 'session list',
  summary: 'Lists the sessions of the console.',
  details: hubDetails,
  flags: hubFlags,
  async run(flags, terminal) {
    for await (const { sessions } of adminPages<SessionPageJson>(flags, terminal, '/admin/sessions')) {
      for (const { id, subject, by, createdAt, lastUsedAt, expiresAt, from = 'unknown address' } of sessions) {
        const times = [`since ${createdAt}`, `last used ${lastUsedAt}`, `until ${expiresAt}`]
        terminal.print([id, subject, `by ${by}`, `from ${from}`, ...times].join('  '))
      }
    }
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
    const [id] = flags.positionals
    if (id === undefined) throw new CliError('Missing session id: `parley session list` shows the ids.')
    await requestAdmin(flags, terminal, 'DELETE', `/admin/sessions/${encodeURIComponent(id)}`)
    terminal.print(`Session ${id} has ended.`)
    return 0
  },
}
