/** What the environment and flags say over the configuration file. Flags win. */
import type { AgentKind } from '../agents/kind.ts'
import { findConfig, loadConfig } from '../config/load.ts'
import type { Loaded, LoadOptions, Overrides } from '../config/load.ts'
import { pathText } from '../config/path.ts'
import type { Problem } from '../config/problem.ts'
import { fileSource } from '../config/source.ts'
import type { ConfigSource } from '../config/source.ts'
import { defined } from '../defined.ts'
import { demoConfig } from '../demo/index.ts'
import { Complaint } from './command.ts'
import type { Command, Flags, Terminal } from './command.ts'

/** Of every command that reads the configuration. */
export const configFlags = { config: { type: 'string', short: 'c' } } satisfies Command['flags']
export const listenFlags = {
  host: { type: 'string' },
  port: { type: 'string' },
  'grpc-port': { type: 'string' },
  store: { type: 'string' },
  data: { type: 'string' },
} satisfies Command['flags']

/** `-c`, then `PARLEY_CONFIG`, then what is in this folder; nothing if there is none. */
export function configFile(flags: Flags, { environment, cwd }: Terminal): string | undefined {
  return flags.text('config') ?? (environment['PARLEY_CONFIG'] || undefined) ?? findConfig(cwd)
}

/** Kinds bring libraries along: they are loaded by the commands that need them, so that the others answer at once. */
export async function loadKinds(): Promise<readonly AgentKind[]> {
  return (await import('../agents/kinds.ts')).kinds
}

export type ReadConfig = Loaded & { readonly file: string | undefined }

export async function readConfig(flags: Flags, terminal: Terminal): Promise<ReadConfig> {
  const options = await loadOptions(flags, terminal)
  return { ...loadConfig(options), file: options.file }
}

/** For whoever changes it while the hub runs. */
export async function configSource(flags: Flags, terminal: Terminal): Promise<ConfigSource> {
  return fileSource(await loadOptions(flags, terminal))
}

async function loadOptions(flags: Flags, terminal: Terminal): Promise<LoadOptions> {
  const { environment, cwd } = terminal
  const file = configFile(flags, terminal)
  const dataDir = flags.text('data') ?? environment['PARLEY_DATA']
  const overrides = overridesOf(flags, environment)
  return { file, otherwise: demoConfig, environment, overrides, dataDir, cwd, kinds: await loadKinds() }
}

export function overridesOf(flags: Flags, environment: Terminal['environment']): Overrides {
  const said = (flag: string, name: string): { text: string; name: string } | undefined => {
    const flagged = flags.text(flag)
    if (flagged !== undefined) return { text: flagged, name: `--${flag}` }
    const found = environment[name]
    // What is set to nothing is not set, as composed environments have it; but gRPC is switched off by it.
    const isSaid = found !== undefined && (found !== '' || name === 'GRPC_PORT')
    return isSaid ? { text: found, name } : undefined
  }
  const host = said('host', 'BIND_HOST')?.text
  const port = portOf(said('port', 'PORT'))
  const grpc = said('grpc-port', 'GRPC_PORT')
  // Nothing in it switches gRPC off; whoever takes any port takes any for both.
  const grpcPort = grpc === undefined ? (port === 0 ? 0 : undefined) : grpc.text === '' ? false : portOf(grpc)
  const url = said('store', 'PARLEY_STORE')?.text
  const { PARLEY_STORE_DIRECT: direct, PARLEY_MASTER_KEY: masterKey, PARLEY_ADMIN_KEY: key } = environment
  return {
    listen: defined({ host, port, grpcPort }),
    store: defined({ url, direct, masterKey }),
    admin: defined({ key }),
  }
}

function portOf(said: { readonly text: string; readonly name: string } | undefined): number | undefined {
  if (said === undefined) return undefined
  const port = Number(said.text)
  if (said.text.trim() !== '' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new Complaint(`${said.name} must be a number from 0 to 65535, not ${JSON.stringify(said.text)}.`)
}

/** `parley.yaml:12  agents.gpt.baseUrl: is missing: give a text` */
export function problemLines(problems: readonly Problem[], file: string | undefined): readonly string[] {
  return problems.map(({ path, line, message }) => {
    const place = [file, line].filter((one) => one !== undefined).join(':')
    const about = path.length === 0 ? message : `${pathText(path)}: ${message}`
    return place === '' ? about : `${place}  ${about}`
  })
}
