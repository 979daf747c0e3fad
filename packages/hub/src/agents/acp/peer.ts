/** One process of the agent: started, initialized, and with known capabilities. */
import { withTimeout } from '@parley/a2a/internal'
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
import { type AgentLog, A2AError } from '@parley/a2a'
import { operatorMessage } from '../../json/operator-message.ts'
import type { ProgramManager } from '../programs/program-manager.ts'
import type { Program } from '../programs/program.ts'
import type { AcpEntry } from './entry.ts'
import type { FileMethods } from './files.ts'
import type { TerminalMethods } from './terminals.ts'
import { createAcpStream } from './acp-stream.ts'

export interface AcpPeer {
  readonly agent: ClientContext
  readonly capabilities: AgentCapabilities
  readonly info: InitializeResponse['agentInfo']
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>
  stop(): Promise<void>
}

export interface AcpPeerDeps {
  readonly entry: AcpEntry
  readonly env: Readonly<Record<string, string>>
  /** Working directory of the process; its sessions may have others. */
  readonly cwd: string
  readonly programs: ProgramManager
  readonly log: AgentLog
  readonly name: string
  readonly jsonNodes?: number | undefined
  onUpdate(notification: SessionNotification): void
  onPermission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>
  /** Set if the agent may access files. */
  readonly files: FileMethods | undefined
  readonly terminals: TerminalMethods | undefined
}

/** Limit for logging an invalid line. */
const maxLoggedChars = 500
/** Limit of one message; images and files are inline. */
const messageBytes = 64_000_000

export async function openAcpPeer(deps: AcpPeerDeps): Promise<AcpPeer> {
  const { entry, log, name } = deps
  const program = deps.programs.start({
    command: entry.command,
    cwd: deps.cwd,
    env: deps.env,
    graceMs: entry.killGrace,
    onError: (line) => log.info('a program wrote to stderr', { agent: name, line }),
    onErrorsDropped: () => log.warn('a program writes more to stderr', { agent: name }),
  })
  const connection = connect(program, deps)
  try {
    const response = await withTimeout(initialize(connection, deps), entry.startTimeout, () => startFailed('in time'))
    if (response.protocolVersion !== PROTOCOL_VERSION) {
      throw startFailed('with a supported protocol version', `it supports ${response.protocolVersion}`)
    }
    await authenticate(connection, entry)
    return {
      agent: connection.agent,
      capabilities: response.agentCapabilities ?? {},
      info: response.agentInfo,
      closed: connection.closed,
      async stop() {
        connection.close()
        await program.stop()
      },
    }
  } catch (cause) {
    connection.close()
    await program.stop()
    throw await startError(cause, program)
  }
}

function connect(program: Program, deps: AcpPeerDeps): ClientConnection {
  const { log, name, jsonNodes, onUpdate, onPermission, files, terminals } = deps
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
  const onInvalidLine = (line: string): void =>
    log.warn('the agent sent an invalid protocol message', {
      agent: name,
      line: line.slice(0, maxLoggedChars),
    })
  return app.connect(createAcpStream({ program, limitBytes: messageBytes, jsonNodes, onUpdate, onInvalidLine }))
}

function initialize({ agent }: ClientConnection, { files, terminals }: AcpPeerDeps): Promise<InitializeResponse> {
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
  await withTimeout(done, startTimeout, () => startFailed('in time: sign-in required'))
}

/** The message is safe for the caller; the rest is in the cause. */
async function startError(cause: unknown, program: Program): Promise<A2AError> {
  if (cause instanceof A2AError) return cause
  const exit = await program.exited
  const lastErrors = await program.lastErrors()
  // What it wrote last says more than that its connection was closed.
  const described = lastErrors === '' ? cause : new Error(`${operatorMessage(cause)} (stderr: ${lastErrors})`)
  const why = 'error' in exit ? exit.error : described
  return new A2AError('AGENT_UNAVAILABLE', 'The program of the agent could not be started', {}, { cause: why })
}

function startFailed(how: string, detail?: string): A2AError {
  const cause = detail === undefined ? {} : { cause: new Error(detail) }
  return new A2AError('AGENT_UNAVAILABLE', `The program of the agent did not start ${how}`, {}, cause)
}
