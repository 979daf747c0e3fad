/**
 * `parley key create | list | revoke | rotate` and `parley session list | end`: requests to a running hub, with the admin key. The commands
 * never open its store, except to rotate the admin key of a hub that does not run.
 */
import { adminKeyFile } from '../../store/data-directory.ts'
import { readAdminKey, writeAdminKey } from '../admin-key-file.ts'
import { adminPages, hubConnection, namedUrl, requestAdmin } from '../admin-request.ts'
import { CliError, exitCodes, usageError, type Flags, type Terminal } from '../command.ts'
import { printResult, tableLines, wantsJson } from '../output.ts'
import { rotateInStore, type RotatedKey } from '../store/rotate-admin-key.ts'

export async function createKey(flags: Flags, terminal: Terminal): Promise<number> {
  const agents = flags.values('agent')
  const scopes = flags.values('scope')
  if (agents.length + scopes.length === 0 && flags.value('replaces') === undefined)
    throw usageError('Missing permission: set --agent <name> or --scope <scope>.')
  const wrong = agents.find((name) => name.startsWith('agent:') || name.includes(','))
  if (wrong !== undefined)
    throw usageError(
      `--agent must be the name of one agent, without agent:, not ${JSON.stringify(wrong)}. Repeat --agent for several.`,
    )
  const tasksPerDay = flags.value('tasks-per-day')
  const order = {
    name: flags.value('name') ?? (flags.value('replaces') === undefined ? [...agents, ...scopes].join(' ') : undefined),
    agents: agents.length > 0 ? agents : undefined,
    scopes: scopes.length > 0 ? scopes : undefined,
    expiresIn: flags.value('expires'),
    rate: flags.value('rate'),
    tasksPerDay: tasksPerDay === undefined ? undefined : Number(tasksPerDay),
    principal: flags.value('principal'),
    replaces: flags.value('replaces'),
  }
  const made = await requestAdmin<{ key: string; id: string }>(flags, terminal, 'POST', '/admin/keys', order).catch(
    (reason: unknown) => {
      throw withFlagName(reason)
    },
  )
  if (wantsJson(flags)) terminal.printData(JSON.stringify(made, null, 2))
  else terminal.print(made.key)
  terminal.printError(`Created key ${made.id}. The key is shown only once.`)
  return 0
}

const flagOfField: Readonly<Record<string, string>> = {
  name: '--name',
  agents: '--agent',
  scopes: '--scope',
  expiresIn: '--expires',
  expiresAt: '--expires',
  rate: '--rate',
  tasksPerDay: '--tasks-per-day',
  principal: '--principal',
  replaces: '--replaces',
  overlap: '--overlap',
}

/** The hub names the fields of its API: `expiresIn: must be a duration`. */
function withFlagName(reason: unknown): unknown {
  const { message } = reason as Error
  const text = message.replaceAll(/\b(\w+)(?:\.\d+)?: /g, (whole, field: string) =>
    field in flagOfField ? `${flagOfField[field]}: ` : whole,
  )
  return reason instanceof CliError && text !== message ? usageError(text) : reason
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

export async function listKeys(flags: Flags, terminal: Terminal): Promise<number> {
  const pages = adminPages<{ keys: readonly KeyJson[]; after?: string }>(flags, terminal, '/admin/keys')
  const keys = (await Array.fromAsync(pages)).flatMap((page) => page.keys)
  const rows = keys.map(({ id, name, prefix, scopes, state, expiresAt, lastUsedAt }) => [
    id,
    `${prefix}…`,
    state,
    name,
    scopes.join(' '),
    expiresAt ?? 'never',
    lastUsedAt ?? 'never',
  ])
  printResult(flags, terminal, { keys }, () =>
    tableLines(terminal, ['ID', 'KEY', 'STATE', 'NAME', 'SCOPES', 'EXPIRES', 'LAST USED'], rows),
  )
  return 0
}

export async function revokeKey(flags: Flags, terminal: Terminal): Promise<number> {
  const [id = ''] = flags.positionals
  await requestAdmin(flags, terminal, 'DELETE', `/admin/keys/${encodeURIComponent(id)}`)
  printResult(flags, terminal, { id, state: 'revoked' }, () => [`Revoked key ${id}.`])
  return 0
}

export async function rotateKey(flags: Flags, terminal: Terminal): Promise<number> {
  const [what = ''] = flags.positionals
  const rotate = { admin: rotateAdmin, signing: rotateSigning, master: rotateMaster }[what]
  if (rotate === undefined) throw usageError('Name what to rotate: admin, signing or master.')
  if (flags.value('overlap') !== undefined && what !== 'admin')
    throw usageError('--overlap is an option of `parley key rotate admin`.')
  await rotate(flags, terminal)
  return 0
}

async function rotateAdmin(flags: Flags, terminal: Terminal): Promise<void> {
  const { unreachable, unauthorized } = exitCodes
  const made = await rotateByHub(flags, terminal).catch(async (reason: unknown) => {
    // Another hub may listen where this one would: whether this one runs is decided by its store.
    const isOther = reason instanceof CliError && ([unreachable, unauthorized] as number[]).includes(reason.exitCode)
    if (!isOther || (await namedUrl(flags, terminal)) !== undefined) throw reason
    return rotateInStore(flags, terminal, reason)
  })
  const { key, previousEndsAt, dataDir } = made
  if (wantsJson(flags)) terminal.printData(JSON.stringify({ key, previousEndsAt }, null, 2))
  else terminal.print(key)
  terminal.printError('Created the admin key. It is shown only once.')
  // After the key is printed: it is in no other place.
  if (dataDir !== undefined)
    await writeAdminKey(dataDir, key).then(
      (file) => terminal.printError(`It is in ${file} now.`),
      (reason: Error) => terminal.printError(`It could not be written to ${adminKeyFile(dataDir)}: ${reason.message}`),
    )
  const isOver = Date.parse(previousEndsAt) <= Date.now()
  terminal.printError(`The previous key is ${isOver ? 'no longer valid' : `valid until ${previousEndsAt}`}.`)
}

async function rotateByHub(flags: Flags, terminal: Terminal): Promise<RotatedKey> {
  const { key: used, dataDir } = await hubConnection(flags, terminal)
  // The commands in this folder read the file: with the old key they would fail after the overlap.
  const isInFile = dataDir !== undefined && (await readAdminKey(dataDir).catch(() => undefined)) === used
  const overlap = flags.value('overlap')
  const made = await requestAdmin<RotatedKey>(
    flags,
    terminal,
    'POST',
    '/admin/rotate/admin',
    overlap === undefined ? {} : { overlap },
  ).catch((reason: unknown) => {
    throw withFlagName(reason)
  })
  return isInFile ? { ...made, dataDir } : made
}

async function rotateSigning(flags: Flags, terminal: Terminal): Promise<void> {
  const made = await requestAdmin<{ rotated: readonly string[]; removed: number }>(
    flags,
    terminal,
    'POST',
    '/admin/rotate/signing',
  )
  printResult(flags, terminal, made, () => [
    `Created new keys: ${made.rotated.join(', ')}.`,
    ...(made.removed === 0 ? [] : [`Removed ${made.removed} old keys that nothing needs.`]),
    'What older keys signed or sealed stays valid.',
  ])
}

async function rotateMaster(flags: Flags, terminal: Terminal): Promise<void> {
  const made = await requestAdmin<{ keys: number; fingerprint: string; replicas: number; next: string }>(
    flags,
    terminal,
    'POST',
    '/admin/rotate/master',
  )
  printResult(flags, terminal, made, () => [
    `Wrapped ${made.keys} keys by the new master key ${made.fingerprint}.`,
    made.next,
  ])
}

interface SessionJson {
  readonly id: string
  readonly subject: string
  readonly by: string
  readonly createdAt: string
  readonly lastUsedAt: string
  readonly expiresAt: string
  readonly from?: string
}

export async function listSessions(flags: Flags, terminal: Terminal): Promise<number> {
  const pages = adminPages<{ sessions: readonly SessionJson[]; after?: string }>(flags, terminal, '/admin/sessions')
  const sessions = (await Array.fromAsync(pages)).flatMap((page) => page.sessions)
  const rows = sessions.map(({ id, subject, by, from = 'unknown', createdAt, lastUsedAt, expiresAt }) => [
    id,
    subject,
    by,
    from,
    createdAt,
    lastUsedAt,
    expiresAt,
  ])
  printResult(flags, terminal, { sessions }, () =>
    tableLines(terminal, ['ID', 'SUBJECT', 'BY', 'FROM', 'CREATED', 'LAST USED', 'EXPIRES'], rows),
  )
  return 0
}

export async function endSession(flags: Flags, terminal: Terminal): Promise<number> {
  const [id = ''] = flags.positionals
  await requestAdmin(flags, terminal, 'DELETE', `/admin/sessions/${encodeURIComponent(id)}`)
  printResult(flags, terminal, { id, state: 'ended' }, () => [`Ended session ${id}.`])
  return 0
}
