/** One run of the agent's program: started, spoken to, and its capabilities known. */
import { client, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import type {
  AgentCapabilities,
  ClientConnection,
  ClientContext,
  InitializeResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionNotification,
} from '@agentclientprotocol/sdk'
import type { AgentLog } from '@parley/a2a'
import { A2AError } from '@parley/a2a'
import type { Programs } from '../programs/leftovers.ts'
import type { Program } from '../programs/program.ts'
import { within } from '../programs/within.ts'
import type { AcpEntry } from './entry.ts'
import type { FileMethods } from './files.ts'
import type { TerminalMethods } from './terminals.ts'
import { acpWire } from './wire.ts'

export interface Peer {
  readonly agent: ClientContext
  readonly capabilities: AgentCapabilities
  readonly info: InitializeResponse['agentInfo']
  /** Resolves when nothing can be said to it any more. */
  readonly closed: Promise<void>
  stop(): Promise<void>
}

export interface PeerParts {
  readonly entry: AcpEntry
  readonly env: Readonly<Record<string, string>>
  /** Where the program itself runs; its sessions may be elsewhere. */
  readonly cwd: string
  readonly programs: Programs
  readonly log: AgentLog
  readonly name: string
  readonly jsonNodes?: number | undefined
  onUpdate(notification: SessionNotification): void
  onPermission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>
  /** If the agent may. */
  readonly files: FileMethods | undefined
  readonly terminals: TerminalMethods | undefined
}

/** A line of debris is shown to the operator, not the whole of it. */
const debrisChars = 500
/** Of one message: images and files come inside. */
const messageBytes = 64_000_000

export async function openPeer(parts: PeerParts): Promise<Peer> {
  const { entry, log, name } = parts
  const program = parts.programs.start({
    command: entry.command,
    cwd: parts.cwd,
    env: parts.env,
    graceMs: entry.killGrace,
    onError: (line) => log.info('a program said on its error output', { agent: name, line }),
    onErrorsDropped: () => log.warn('a program says more on its error output', { agent: name }),
  })
  const connection = connect(program, parts)
  try {
    const told = await within(initialize(connection, parts), entry.startTimeout, () => didNotStart('in time'))
    if (told.protocolVersion !== PROTOCOL_VERSION) {
      throw didNotStart('in a version of its protocol that is known here', `it speaks ${told.protocolVersion}`)
    }
    await authenticate(connection, entry)
    return {
      agent: connection.agent,
      capabilities: told.agentCapabilities ?? {},
      info: told.agentInfo,
      closed: connection.closed,
      async stop() {
        connection.close()
        await program.stop()
      },
    }
  } catch (cause) {
    connection.close()
    await program.stop()
    throw await explained(cause, program)
  }
}

function connect(program: Program, parts: PeerParts): ClientConnection {
  const { log, name, jsonNodes, onUpdate, onPermission, files, terminals } = parts
  const app = client({ name: 'parley' }).onRequest('session/request_permission', ({ params }) => onPermission(params))
  if (files !== undefined) {
    app.onRequest('fs/read_text_file', ({ params }) => files.read(params))
    app.onRequest('fs/write_text_file', ({ params }) => files.write(params))
  }
  if (terminals !== undefined) {
    app.onRequest('terminal/create', ({ params }) => terminals.create(params))
    app.onRequest('terminal/output', ({ params }) => terminals.output(params))
    app.onRequest('terminal/wait_for_exit', ({ params }) => terminals.waitForExit(params))
    app.onRequest('terminal/kill', ({ params }) => terminals.kill(params))
    app.onRequest('terminal/release', ({ params }) => terminals.release(params))
  }
  const onDebris = (line: string): void =>
    log.warn('the agent said something that is no message of its protocol', {
      agent: name,
      line: line.slice(0, debrisChars),
    })
  return app.connect(acpWire({ program, limitBytes: messageBytes, jsonNodes, onUpdate, onDebris }))
}

function initialize({ agent }: ClientConnection, { files, terminals }: PeerParts): Promise<InitializeResponse> {
  return agent.request('initialize', {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'parley', title: 'Parley', version: '1' },
    clientCapabilities: {
      fs: { readTextFile: files !== undefined, writeTextFile: files !== undefined },
      terminal: terminals !== undefined,
    },
  })
}

async function authenticate({ agent }: ClientConnection, { authMethod, startTimeout }: AcpEntry): Promise<void> {
  if (authMethod === undefined) return
  const done = agent.request('authenticate', { methodId: authMethod })
  await within(done, startTimeout, () => didNotStart('in time: it waits for somebody to sign in'))
}

/** What a caller may read of it; the rest is the cause. */
async function explained(cause: unknown, program: Program): Promise<A2AError> {
  if (cause instanceof A2AError) return cause
  const exit = await program.exited
  const why = 'error' in exit ? exit.error : cause
  return new A2AError('AGENT_UNAVAILABLE', 'The program of the agent could not be started', {}, { cause: why })
}

function didNotStart(how: string, detail?: string): A2AError {
  const cause = detail === undefined ? {} : { cause: new Error(detail) }
  return new A2AError('AGENT_UNAVAILABLE', `The program of the agent did not start ${how}`, {}, cause)
}
