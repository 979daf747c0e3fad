/**
 * The tools of an MCP server as an agent: a message is a call, and its result is an artifact. The checkpoint written before
 * a call decides what a restart does: a repeatable tool is called again; the outcome of any other is unknown.
 */
import { UrlElicitationRequiredError, type Progress } from '@modelcontextprotocol/client'
import {
  artifact,
  fail,
  inputRequired,
  reject,
  status,
  type Agent,
  type Message,
  type Report,
  type Turn,
} from '@parley/a2a'
import { omitUndefined, schemaFields } from '@parley/a2a/internal'
import { streamReports, type EmitReport } from '../report-channel.ts'
import { createSemaphore } from '../programs/semaphore.ts'
import { traceMeta, withToolSpan } from '../call-spans.ts'
import type { McpBackend } from './backend.ts'
import { listCallables, type Callable, type CallableResult } from './callable.ts'
import type { McpConnection } from './connection.ts'
import { answerElicitation, formRefusal } from './elicit.ts'
import type { McpEntry } from './server.ts'
import { missingFields, resolveCall } from './call-request.ts'
import { explainUnclearCall } from './explain-call.ts'
import type { PendingCall, CallRequest, ResolvedCall } from './call-request.ts'
import { textOfParts } from '../part-reader.ts'
import { createProgressThrottle, progressText } from './progress-throttle.ts'
import { toolFailure } from './tool-failure.ts'

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
      await emit(fail(failure.message, { cause: failure.cause ?? failure }))
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
