/**
 * The tools of an MCP server as an agent: a message is a call, and its result is an artifact. The checkpoint written before
 * a call decides what a restart does: a repeatable tool is called again; the outcome of any other is unknown.
 */
import {
  UrlElicitationRequiredError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Progress,
} from '@modelcontextprotocol/client'
import { artifact, fail, inputRequired, reject, status, omitUndefined, A2AError } from '@parley/a2a'
import type { Agent, Message, Report, Turn } from '@parley/a2a'
import { streamReports, type EmitReport } from '../report-channel.ts'
import { createSemaphore } from '../programs/semaphore.ts'
import { traceMeta, withToolSpan } from '../call-spans.ts'
import type { McpBackend } from './backend.ts'
import { listCallables, type Callable, type CallableResult } from './callable.ts'
import type { McpConnection } from './connection.ts'
import { answerElicitation, formRefusal } from './elicit.ts'
import type { McpEntry } from './server.ts'
import { explainUnclearCall, missingFields, resolveCall } from './call-request.ts'
import type { PendingCall, CallRequest, ResolvedCall } from './call-request.ts'
import { schemaFields } from './parse-input.ts'
import { lostAnswerCode } from './http-transport.ts'
import { textOfParts } from '../part-reader.ts'

interface McpCheckpoint {
  /** The call that the caller was asked about. `isReady`: it only needs a confirmation. */
  readonly pending?: PendingCall & { readonly isReady?: boolean }
  /** From here on the tool may have started. */
  readonly calling?: { readonly tool: string; readonly isRepeatable: boolean }
}

const progressEveryMs = 250
/** Limit of the error text of a tool. */
const failureChars = 4_000

export function mcpAgent(entry: McpEntry, backend: McpBackend): Agent {
  const resume = entry.resume === 'fail' ? 'fail' : 'rerun'
  return { resume, run: (turn) => streamReports((emit) => runTurn(turn, emit)) }

  async function runTurn(turn: Turn, emit: EmitReport): Promise<void> {
    const { calling } = (turn.resumed?.checkpoint ?? {}) as McpCheckpoint
    if (calling?.isRepeatable === false) {
      return emit(fail('The hub was restarted while the tool was running: its outcome is unknown'))
    }
    await backend.use(turn, async (connection) => {
      const callables = await listCallables(connection, entry, turn.signal)
      const { pending } = (turn.lastCheckpoint ?? {}) as McpCheckpoint
      if (pending !== undefined && isDeclined(turn.message, pending, callables)) {
        return emit(reject('Nothing was called'))
      }
      const request = requestIn(turn, pending, callables)
      if ('why' in request) {
        if (request.isFromProgram) return emit(reject(explainUnclearCall(request, callables)))
        const { partialCall } = request
        await saveCheckpoint(
          turn,
          partialCall === undefined ? {} : { pending: { tool: partialCall.callable.name, input: partialCall.input } },
        )
        return emit(inputRequired(explainUnclearCall(request, callables)))
      }
      return call(turn, emit, connection, request)
    })
  }

  async function call(
    turn: Turn,
    emit: EmitReport,
    connection: McpConnection,
    { callable, input }: ResolvedCall,
  ): Promise<void> {
    const { name, title } = callable
    const isRepeatable = entry.resume === 'rerun' || callable.isRepeatable
    await saveCheckpoint(turn, { calling: { tool: name, isRepeatable } })
    await emit({ state: 'TASK_STATE_WORKING', metadata: { toolCall: { name, outcome: 'started' } } })
    try {
      const { parts, isError } = await callWithProgress(turn, emit, connection, { callable, input })
      if (isError) return await emit(fail(failureText(parts, title)))
      await emit(artifact('result', { parts, name: title, last: true, metadata: { tool: name } }))
    } catch (reason) {
      turn.signal.throwIfAborted()
      if (reason instanceof UrlElicitationRequiredError && reason.elicitations.length > 0) {
        await saveCheckpoint(turn, { pending: { tool: name, input, isReady: true } })
        return emit(urlElicitationReport(reason))
      }
      const failure = toolFailure(reason)
      turn.log.warn('a call of a tool failed', { taskId: turn.task.id, tool: name, cause: failure.cause ?? failure })
      await emit(fail(failure.message))
    }
  }
}

/** Runs the tool: its progress becomes reports, and its questions go to the caller. */
async function callWithProgress(
  turn: Turn,
  emit: EmitReport,
  connection: McpConnection,
  { callable, input }: ResolvedCall,
): Promise<CallableResult> {
  const { name } = callable
  const throttle = createProgressThrottle(progressEveryMs, (progress) => emit(progressStatus(name, progress)))
  // The engine allows one question at a time.
  const askSemaphore = createSemaphore(1)
  try {
    return await withToolSpan(turn, { name, type: 'extension' }, (span) =>
      callable.call(connection, input, {
        signal: turn.signal,
        trace: traceMeta(span, turn.tracestate),
        // The turn's own timeout applies, by its signal.
        timeoutMs: Infinity,
        onProgress: (progress) => throttle.push(progress),
        onElicit: (question, signal) =>
          answerElicitation(question, async (message) => {
            const release = await askSemaphore.acquire(signal)
            // While a question is open, progress must not be reported.
            await throttle.pause()
            return turn.askMessage(message).finally(() => {
              throttle.resume()
              release()
            })
          }),
      }),
    )
  } finally {
    throttle.end()
  }
}

function progressStatus(name: string, progress: Progress): Report {
  const { progress: done, total } = progress
  const about = { name, outcome: 'progress', progress: done, ...omitUndefined({ total }) }
  return status(progressText(progress), { toolCall: about })
}

function requestIn(turn: Turn, pending: McpCheckpoint['pending'], callables: readonly Callable[]): CallRequest {
  const callable = callables.find(({ name }) => name === pending?.tool)
  if (pending?.isReady === true && callable !== undefined) return { callable, input: pending.input }
  return resolveCall({ message: turn.message, metadata: turn.metadata, pending }, callables)
}

function isDeclined(message: Message, { tool, input }: PendingCall, callables: readonly Callable[]): boolean {
  const { inputSchema = {} } = callables.find(({ name }) => name === tool) ?? {}
  const open = missingFields(inputSchema, input)
  const fields = Object.entries(schemaFields(inputSchema)).filter(([name]) => open.includes(name))
  return formRefusal(Object.fromEntries(fields), message) !== undefined
}

function urlElicitationReport({ elicitations }: UrlElicitationRequiredError): Report {
  const lines = elicitations.map(({ message, url }) => `${message}\n${url}`)
  const text = [...lines, 'Answer yes when it is done, or no.'].join('\n')
  return inputRequired({ parts: [{ text }, ...elicitations.map(({ url }) => ({ url }))] })
}

function failureText(parts: CallableResult['parts'], title: string): string {
  const text = textOfParts(parts).trim()
  if (text === '') return `${title} failed without a reason`
  return text.length > failureChars ? `${text.slice(0, failureChars)}…` : text
}

function saveCheckpoint(turn: Turn, kept: McpCheckpoint): Promise<void> {
  return turn.checkpoint(kept)
}

const wordsChars = 500
const invalidParams: number = ProtocolErrorCode.InvalidParams

/**
 * A failed call as the caller may see it: whose fault it is, and whether the tool may have done its work. The server's own
 * message goes to the log.
 */
function toolFailure(reason: unknown): A2AError {
  if (reason instanceof A2AError) return reason
  return new A2AError('TOOL_EXECUTION_FAILED', failureMessage(reason), {}, { cause: reason })
}

const connectionLost = 'The connection to the tool server was lost: the outcome of the call is unknown'

/** Messages for error codes of the SDK. */
const sdkErrorMessages: Readonly<Record<string, string>> = {
  [SdkErrorCode.ConnectionClosed]: connectionLost,
  [SdkErrorCode.NotConnected]: connectionLost,
  [SdkErrorCode.SendFailed]: connectionLost,
  [SdkErrorCode.InvalidResult]: 'The result of the tool is malformed',
  [SdkErrorCode.UnsupportedResultType]: 'The result of the tool is malformed',
  [SdkErrorCode.InputRequiredRoundsExceeded]: 'The tool asked too many questions',
  // The server requested sampling or roots.
  [SdkErrorCode.CapabilityNotSupported]: 'The tool requested an unsupported feature of the client',
  [SdkErrorCode.MethodNotSupportedByProtocolVersion]: 'The tool requested an unsupported feature of the client',
}

function failureMessage(reason: unknown): string {
  if (reason instanceof ProtocolError) return serverFailureMessage(reason)
  if (reason instanceof SdkHttpError) return `The tool server refused the call (HTTP ${reason.status})`
  // Errors that are not from the SDK are network errors.
  return reason instanceof SdkError ? (sdkErrorMessages[reason.code] ?? 'The tool server failed') : connectionLost
}

function serverFailureMessage({ code, message }: ProtocolError): string {
  if (code === lostAnswerCode) return connectionLost
  // From the SDK, which validates the result of a tool against its output schema.
  if (/output ?schema|structured content/i.test(message))
    return 'The result of the tool does not match its output schema'
  if (code !== invalidParams) return 'The tool server failed'
  return `The tool server rejected the call: ${message.replace(/^MCP error -?\d+: /, '').slice(0, wordsChars)}`
}

/** Throttles the progress of a tool: forwards the first update at once, then the newest one at intervals. */
interface ProgressThrottle {
  push(progress: Progress): void
  /** Resolves when the current update is sent; nothing follows until `resume` was called as often. */
  pause(): Promise<void>
  resume(): void
  /** Stops all updates. */
  end(): void
}

export function createProgressThrottle(everyMs: number, send: (progress: Progress) => Promise<void>): ProgressThrottle {
  let newest: Progress | undefined
  let sending: Promise<void> | undefined
  let isCoolingDown = false
  let pauses = 0
  let cooldown: NodeJS.Timeout | undefined

  function next(): void {
    if (newest === undefined || sending !== undefined || isCoolingDown || pauses > 0) return
    const progress = newest
    newest = undefined
    // Waits until the previous update was read.
    sending = send(progress).finally(() => {
      sending = undefined
      if (pauses === Infinity) return
      isCoolingDown = true
      cooldown = setTimeout(() => {
        isCoolingDown = false
        next()
      }, everyMs)
    })
  }

  return {
    push(progress) {
      newest = progress
      next()
    },
    async pause() {
      pauses += 1
      await sending
    },
    resume() {
      pauses -= 1
      next()
    },
    end() {
      pauses = Infinity
      clearTimeout(cooldown)
    },
  }
}

/** Progress as text for people. */
export function progressText({ message, progress, total }: Progress): string {
  if (message !== undefined && message !== '') return message
  return total === undefined ? String(progress) : `${progress} of ${total}`
}
