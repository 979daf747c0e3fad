/**
 * `parley secret set | list | remove`: requests to a running hub about the secrets that it keeps for `${hub:<name>}`. A value is never
 * an argument: other users of the machine see those.
 */
import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { maxSecretBytes } from '../../config/secrets/secret-provider.ts'
import { hubConnection, requestAdmin } from '../admin-request.ts'
import { CliError, usageError, type Flags, type Terminal } from '../command.ts'
import { printResult, tableLines } from '../output.ts'

interface SecretJson {
  readonly name: string
  readonly isSet: boolean
  readonly setAt?: string
  readonly setBy?: string
  readonly agents: readonly string[]
}

export async function setSecret(flags: Flags, terminal: Terminal): Promise<number> {
  const [name = '', ...rest] = flags.positionals
  if (rest.length > 0) throw usageError('The value must not be an argument: type it when asked, or pass it on stdin.')
  // Before the value is typed: the admin key may be missing.
  await hubConnection(flags, terminal)
  const value = await readValue(name, terminal)
  const kept = await requestAdmin<SecretJson>(flags, terminal, 'PUT', secretPath(name), { value })
  printResult(flags, terminal, kept, () => [
    `Set ${name}. ${kept.agents.length === 0 ? `No agent uses it yet: refer to it as \${hub:${name}}.` : `Used by ${kept.agents.join(', ')}.`}`,
  ])
  return 0
}

export async function listSecrets(flags: Flags, terminal: Terminal): Promise<number> {
  const { secrets } = await requestAdmin<{ secrets: readonly SecretJson[] }>(flags, terminal, 'GET', '/admin/secrets')
  const rows = secrets.map(({ name, setAt = 'not set', setBy = '', agents }) => [name, setAt, setBy, agents.join(' ')])
  printResult(flags, terminal, { secrets }, () => tableLines(terminal, ['NAME', 'SET', 'BY', 'AGENTS'], rows))
  return 0
}

export async function removeSecret(flags: Flags, terminal: Terminal): Promise<number> {
  const [name = ''] = flags.positionals
  await requestAdmin(flags, terminal, 'DELETE', secretPath(name))
  printResult(flags, terminal, { name }, () => [`Removed ${name}.`])
  return 0
}

function secretPath(name: string): string {
  return `/admin/secrets/${encodeURIComponent(name)}`
}

async function readValue(name: string, terminal: Terminal): Promise<string> {
  const input = terminal.input as Readable & { readonly isTTY?: boolean }
  const value = input.isTTY === true ? await askHidden(`Value of ${name}: `, terminal) : await readAll(input)
  if (value === '') throw usageError('The value is empty: type it, or pass it on stdin.')
  return value
}

/** Without its final line break, which editors and `echo` add. */
async function readAll(input: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    const part = Buffer.from(chunk)
    bytes += part.length
    if (bytes > maxSecretBytes + 2) throw new CliError(`The value has more than ${maxSecretBytes} bytes.`)
    chunks.push(part)
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}

async function askHidden(prompt: string, { input, writeError }: Terminal): Promise<string> {
  const muted = new Writable({ write: (_chunk, _encoding, done) => done() })
  const editor = createInterface({ input, output: muted, terminal: true, historySize: 0 })
  writeError(prompt)
  try {
    return await new Promise<string>((resolve, reject) => {
      editor.once('line', resolve)
      editor.once('SIGINT', () => reject(new CliError('Canceled.')))
      editor.once('close', () => resolve(''))
    })
  } finally {
    writeError('\n')
    editor.close()
  }
}
