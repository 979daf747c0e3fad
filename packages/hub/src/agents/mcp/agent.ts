/**
 * The tools of an MCP server as an agent: a message is a call, its result an artifact. What is kept before a call begins
 * decides what a restart means: a tool that says that it may be called twice is, and nobody knows what became of another.
 */
import { UrlElicitationRequiredError } from '@modelcontextprotocol/client'
import type { Progress } from '@modelcontextprotocol/client'
import { artifact, fail, inputRequired, reject, status } from '@parley/a2a'
import type { Agent, Message, Report, Turn } from '@parley/a2a'
import { reportsOf } from '../loop/outbox.ts'
import type { Say } from '../loop/outbox.ts'
import { createSlots } from '../programs/slots.ts'
import { traceMeta, withToolSpan } from '../tool-span.ts'
import type { McpBackend } from './backend.ts'
import { callablesOf } from './callable.ts'
import type { Callable, Outcome } from './callable.ts'
import type { McpConnection } from './connection.ts'
import { answerQuestion, refusalTo } from './elicit.ts'
import type { McpEntry } from './entry.ts'
import { failureOf } from './failure.ts'
import { progressTeller, progressText } from './progress.ts'
import { explain } from './question.ts'
import { openFields, readRequest } from './request.ts'
import type { Pending, Request, Wanted } from './request.ts'
import { fieldsOf } from './words.ts'

/** What a checkpoint of ours says. */
interface Kept {
  /** Somebody was asked, and this is what about. `isReady`: it needs nothing but a word to go on. */
  readonly pending?: Pending & { readonly isReady?: boolean }
  /** From here on the tool may have begun. */
  readonly calling?: { readonly tool: string; readonly isRepeatable: boolean }
}

const progressEveryMs = 250
/** Of what a tool says of its failure. */
const failureChars = 4_000

export function mcpAgent(entry: McpEntry, backend: McpBackend): Agent {
  const resume = entry.resume === 'fail' ? 'fail' : 'rerun'
  return { resume, run: (turn) => reportsOf((say) => runTurn(turn, say)) }

  async function runTurn(turn: Turn, say: Say): Promise<void> {
    const { calling } = (turn.resumed?.checkpoint ?? {}) as Kept
    if (calling?.isRepeatable === false) {
      return say(fail('The hub was restarted while the tool was at work: whether it has done its work is not known'))
    }
    await backend.use(turn, async (connection) => {
      const callables = await callablesOf(connection, entry, turn.signal)
      const { pending } = (turn.remembered ?? {}) as Kept
      if (pending !== undefined && isRefused(turn.message, pending, callables)) {
        return say(reject('Nothing was called'))
      }
      const request = requestIn(turn, pending, callables)
      if ('why' in request) {
        if (request.byProgram) return say(reject(explain(request, callables)))
        const { begun } = request
        await keep(turn, begun === undefined ? {} : { pending: { tool: begun.callable.name, input: begun.input } })
        return say(inputRequired(explain(request, callables)))
      }
      return call(turn, say, connection, request)
    })
  }

  async function call(turn: Turn, say: Say, connection: McpConnection, { callable, input }: Wanted): Promise<void> {
    const { name, title } = callable
    const isRepeatable = entry.resume === 'rerun' || callable.isRepeatable
    await keep(turn, { calling: { tool: name, isRepeatable } })
    await say({ state: 'TASK_STATE_WORKING', metadata: { toolCall: { name, outcome: 'started' } } })
    try {
      const { parts, isError } = await perform(turn, say, connection, { callable, input })
      if (isError) return await say(fail(failureText(parts, title)))
      await say(artifact('result', { parts, name: title, last: true, metadata: { tool: name } }))
    } catch (reason) {
      turn.signal.throwIfAborted()
      if (reason instanceof UrlElicitationRequiredError && reason.elicitations.length > 0) {
        await keep(turn, { pending: { tool: name, input, isReady: true } })
        return say(visits(reason))
      }
      const failure = failureOf(reason)
      turn.log.warn('a call of a tool failed', { taskId: turn.task.id, tool: name, cause: failure.cause ?? failure })
      await say(fail(failure.message))
    }
  }
}

/** The tool at work: how far it is goes to whoever watches, what it asks to the caller. */
async function perform(turn: Turn, say: Say, connection: McpConnection, { callable, input }: Wanted): Promise<Outcome> {
  const { name } = callable
  const teller = progressTeller(progressEveryMs, (progress) => say(progressStatus(name, progress)))
  // The engine has one question at a time.
  const asking = createSlots(1)
  try {
    return await withToolSpan(turn, { name, type: 'extension' }, (span) =>
      callable.call(connection, input, {
        signal: turn.signal,
        trace: traceMeta(span, turn.tracestate),
        // The turn's own, of which the signal tells.
        timeoutMs: Infinity,
        onProgress: (progress) => teller.hear(progress),
        onElicit: (question, signal) =>
          answerQuestion(question, async (message) => {
            const release = await asking.take(signal)
            // Whoever is asked must not be told that the tool is at work.
            await teller.pause()
            return turn.askMessage(message).finally(() => {
              teller.go()
              release()
            })
          }),
      }),
    )
  } finally {
    teller.end()
  }
}

function progressStatus(name: string, progress: Progress): Report {
  const { progress: done, total } = progress
  const about = { name, outcome: 'progress', progress: done, ...(total !== undefined ? { total } : {}) }
  return status(progressText(progress), { toolCall: about })
}

function requestIn(turn: Turn, pending: Kept['pending'], callables: readonly Callable[]): Request {
  const callable = callables.find(({ name }) => name === pending?.tool)
  if (pending?.isReady === true && callable !== undefined) return { callable, input: pending.input }
  return readRequest({ message: turn.message, metadata: turn.metadata, pending }, callables)
}

function isRefused(message: Message, { tool, input }: Pending, callables: readonly Callable[]): boolean {
  const { inputSchema = {} } = callables.find(({ name }) => name === tool) ?? {}
  const open = openFields(inputSchema, input)
  const fields = Object.entries(fieldsOf(inputSchema)).filter(([name]) => open.includes(name))
  return refusalTo(Object.fromEntries(fields), message) !== undefined
}

function visits({ elicitations }: UrlElicitationRequiredError): Report {
  const lines = elicitations.map(({ message, url }) => `${message}\n${url}`)
  const text = [...lines, 'Answer yes when it is done, or no.'].join('\n')
  return inputRequired({ parts: [{ text }, ...elicitations.map(({ url }) => ({ url }))] })
}

function failureText(parts: Outcome['parts'], title: string): string {
  const text = parts
    .flatMap((part) => ('text' in part ? [part.text] : []))
    .join('\n')
    .trim()
  if (text === '') return `${title} failed and did not say why`
  return text.length > failureChars ? `${text.slice(0, failureChars)}…` : text
}

function keep(turn: Turn, kept: Kept): Promise<void> {
  return turn.checkpoint(kept)
}
