/** `parley key create | list | revoke`: requests to a running hub, with the admin key. The commands never open its store. */
import { adminPages, hubDetails, hubFlags, requestAdmin } from './admin-request.ts'
import { CliError } from './command.ts'
import type { Command } from './command.ts'

export const keyCreate: Command = {
  name: 'key create',
  summary: 'Creates an API key and shows it once.',
  details: [
    '--agent <name>          An agent that it may call; repeatable.',
    '--scope <scope>         agent:<name>, agent:*, skill:<agent>/<skill>, operation:<name>.',
    '--name <text>           Its purpose.',
    '--expires <duration>    For example 30d. Default: never.',
    '--rate <rate>           For example 60/min.',
    '--tasks-per-day <n>     The maximum number of new tasks per day.',
    '--principal <text>      The owner of its tasks. Default: the key itself.',
    '--replaces <id>         Copies this key; the new key continues its tasks.',
    ...hubDetails,
  ],
  flags: {
    ...hubFlags,
    agent: { type: 'string', multiple: true },
    scope: { type: 'string', multiple: true },
    name: { type: 'string' },
    expires: { type: 'string' },
    rate: { type: 'string' },
    'tasks-per-day': { type: 'string' },
    principal: { type: 'string' },
    replaces: { type: 'string' },
  },
  async run(flags, terminal) {
    const agents = flags.values('agent')
    const scopes = flags.values('scope')
    const tasksPerDay = flags.value('tasks-per-day')
    const order = {
      name:
        flags.value('name') ?? (flags.value('replaces') === undefined ? [...agents, ...scopes].join(' ') : undefined),
      agents: agents.length > 0 ? agents : undefined,
      scopes: scopes.length > 0 ? scopes : undefined,
      expiresIn: flags.value('expires'),
      rate: flags.value('rate'),
      tasksPerDay: tasksPerDay === undefined ? undefined : Number(tasksPerDay),
      principal: flags.value('principal'),
      replaces: flags.value('replaces'),
    }
    const made = await requestAdmin<{ key: string; id: string }>(flags, terminal, 'POST', '/admin/keys', order)
    terminal.print(made.key)
    terminal.printError(`Created key ${made.id}. The key is shown only once.`)
    return 0
  },
}

interface KeyJson {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly scopes: readonly string[]
  readonly state: string
  readonly expiresAt?: string
  readonly lastUsedAt?: string
}

interface KeyPageJson {
  readonly keys: readonly KeyJson[]
  readonly after?: string
}

export const keyList: Command = {
  name: 'key list',
  summary: 'Lists the API keys with their purpose and last use.',
  details: hubDetails,
  flags: hubFlags,
  async run(flags, terminal) {
    for await (const { keys } of adminPages<KeyPageJson>(flags, terminal, '/admin/keys')) {
      for (const { id, name, prefix, scopes, state, lastUsedAt } of keys) {
        const used = lastUsedAt === undefined ? 'never used' : `last used ${lastUsedAt}`
        terminal.print([id, `${prefix}…`, state, name, scopes.join(' '), used].join('  '))
      }
    }
    return 0
  },
}

export const keyRevoke: Command = {
  name: 'key revoke',
  takes: '<id>',
  summary: 'Revokes an API key immediately.',
  details: hubDetails,
  flags: hubFlags,
  async run(flags, terminal) {
    const [id] = flags.positionals
    if (id === undefined) throw new CliError('Missing key id: `parley key list` shows the ids.')
    await requestAdmin(flags, terminal, 'DELETE', `/admin/keys/${encodeURIComponent(id)}`)
    terminal.print(`Revoked key ${id}.`)
    return 0
  },
}
