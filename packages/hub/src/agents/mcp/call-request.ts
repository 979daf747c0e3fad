/**
 * Finds the call that a message means. Programs send data, `{ tool, arguments }`, or name the tool as the skill and send
 * only its arguments. People write `tool(arguments)`, `tool name=value`, or only the text if the tool needs a single text.
 */
import type { Json, Message, Struct, Violation } from '@parley/a2a'
import { isStruct, schemaFields, parseInput, requiredFields } from '@parley/a2a/internal'
import type { Callable } from './callable.ts'
import { schemaViolations, describeViolations, parseCallArguments } from './parse-input.ts'
import { parseJsonOrUndefined } from '../../json/embedded-json.ts'
import { textOfParts } from '../part-reader.ts'

export interface CallMessage {
  readonly message: Message
  /** Metadata of the request, in addition to that of the message. */
  readonly metadata: Struct
  /** The call that an earlier question of the same task was about. */
  readonly pending: PendingCall | undefined
}

/** A call that is still incomplete. */
export interface PendingCall {
  readonly tool: string
  readonly input: Struct
}

export type CallRequest = ResolvedCall | UnclearCall

export interface ResolvedCall {
  readonly callable: Callable
  readonly input: Struct
}

export interface UnclearCall {
  /** Explanation for the caller. */
  readonly why: string
  readonly violations: readonly Violation[]
  /** The call as far as it is known. */
  readonly partialCall?: ResolvedCall
  /** The message came from a program, for which an error is better than a question. */
  readonly isFromProgram: boolean
}

export function resolveCall(said: CallMessage, callables: readonly Callable[]): CallRequest {
  const data = said.message.parts.flatMap((part) => ('data' in part ? [part.data] : []))
  const text = textOfParts(said.message.parts)
  const [first] = data
  if (data.length > 1) return unclearCall('One call per message: send one data part', true)
  if (first !== undefined && !isStruct(first)) return unclearCall('The data must be an object', true)
  const fromText = first === undefined ? parseJsonOrUndefined(text) : undefined
  const given = first ?? (isStruct(fromText) ? fromText : undefined)
  const byProgram = first !== undefined
  const meant =
    given === undefined ? callFromText(text, said, callables) : callFromData(given, said, callables, byProgram)
  return 'why' in meant ? meant : validateCall(meant, byProgram)
}

/** The required fields that are missing; if none is required, the optional ones. */
export function missingFields(schema: Struct, input: Struct): readonly string[] {
  const isOpen = (name: string): boolean => !Object.hasOwn(input, name)
  const required = requiredFields(schema).filter(isOpen)
  return required.length > 0 ? required : Object.keys(schemaFields(schema)).filter(isOpen)
}

function validateCall(wanted: ResolvedCall, byProgram: boolean): CallRequest {
  const { callable, input } = wanted
  const violations = schemaViolations(input, callable.inputSchema)
  if (violations.length === 0) return wanted
  const why = `Invalid arguments for ${callable.name}: ${describeViolations(violations)}`
  return { why, violations, partialCall: wanted, isFromProgram: byProgram }
}

function callFromData(
  given: Struct,
  said: CallMessage,
  callables: readonly Callable[],
  byProgram: boolean,
): CallRequest {
  const skill = skillIn(said)
  const envelope = envelopeIn(given)
  if (skill !== undefined) {
    const callable = find(skill, callables)
    if (callable === undefined) return unknownTool(skill, true)
    const isRepeated = envelope !== undefined && find(envelope.tool, callables) === callable
    return { callable, input: isRepeated ? envelope.input : given }
  }
  if (envelope !== undefined) {
    const callable = find(envelope.tool, callables)
    return callable === undefined ? unknownTool(envelope.tool, byProgram) : { callable, input: envelope.input }
  }
  const begun = pendingIn(said, callables)
  if (begun !== undefined) return { callable: begun.callable, input: { ...begun.input, ...given } }
  const [only, ...others] = callables
  if (only !== undefined && others.length === 0) return { callable: only, input: given }
  return unclearCall('Name the tool to call: { "tool": "…", "arguments": { … } }', byProgram)
}

/** In the form of MCP, or with the key `tool`. */
function envelopeIn(given: Struct): { readonly tool: string; readonly input: Struct } | undefined {
  const { tool, name, arguments: input = {}, ...others } = given
  const called = tool ?? name
  if (typeof called !== 'string' || !isStruct(input) || Object.keys(others).length > 0) return undefined
  // Without `arguments`, `name` is more likely an argument itself.
  if (tool === undefined && !Object.hasOwn(given, 'arguments')) return undefined
  return { tool: called, input }
}

const callForm = /^([^\s(){}[\]"'=,]+)\s*\((.*)\)\s*;?$/s
const wordForm = /^(\S+)\s*(.*)$/s

function callFromText(whole: string, said: CallMessage, callables: readonly Callable[]): CallRequest {
  const text = withoutBackticks(whole.trim()).trim()
  const skill = skillIn(said)
  if (skill !== undefined) {
    const callable = find(skill, callables)
    return callable === undefined ? unknownTool(skill, true) : callFromWords(text, { callable, input: {} })
  }
  const [, called, inner = ''] = callForm.exec(text) ?? []
  const callable = called === undefined ? undefined : find(called, callables)
  if (callable !== undefined) return callFromWords(inner, { callable, input: {} }, parseCallArguments)
  const begun = pendingIn(said, callables)
  if (begun !== undefined) return callFromWords(text, begun)
  const [, word = '', rest = ''] = wordForm.exec(text) ?? []
  const named = find(word, callables)
  if (named !== undefined) return callFromWords(rest, { callable: named, input: {} })
  if (called !== undefined) return unknownTool(called, false)
  const [only, ...others] = callables
  if (only !== undefined && others.length === 0 && text !== '')
    return callFromWords(text, { callable: only, input: {} })
  return unclearCall(text === '' ? 'Name the tool to call' : 'The tool is ambiguous', false)
}

/** Removes the backticks around a text. Not by a pattern, which would take quadratic time for runs of them inside. */
function withoutBackticks(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && text[start] === '`') start += 1
  while (end > start && text[end - 1] === '`') end -= 1
  return text.slice(start, end)
}

function callFromWords(text: string, begun: ResolvedCall, read = parseInput): CallRequest {
  const { callable, input } = begun
  const { inputSchema } = callable
  const given = read(text, inputSchema, missingFields(inputSchema, input))
  if (given !== undefined) return { callable, input: { ...input, ...given } }
  return {
    why: `Send the arguments for ${callable.name}`,
    violations: [],
    partialCall: begun,
    isFromProgram: false,
  }
}

function pendingIn({ pending }: CallMessage, callables: readonly Callable[]): ResolvedCall | undefined {
  const callable = pending === undefined ? undefined : callables.find(({ name }) => name === pending.tool)
  return callable === undefined || pending === undefined ? undefined : { callable, input: pending.input }
}

/** The skill id is the name of the tool. */
function skillIn({ message, metadata }: CallMessage): string | undefined {
  const ids = [message.metadata?.['skillId'], metadata['skillId']]
  return ids.find((id): id is string & Json => typeof id === 'string' && id !== '')
}

/** Finds a tool by its exact name, by its name in any spelling if only one matches, or by its title. */
function find(called: string, callables: readonly Callable[]): Callable | undefined {
  const exact = callables.find(({ name }) => name === called)
  if (exact !== undefined) return exact
  const wanted = normalizeName(called)
  if (wanted === '') return undefined
  const alike = callables.filter(({ name, title }) => normalizeName(name) === wanted || normalizeName(title) === wanted)
  return alike.length === 1 ? alike[0] : undefined
}

const normalizeName = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

function unknownTool(tool: string, byProgram: boolean): UnclearCall {
  return unclearCall(`Unknown tool ${tool.slice(0, 100)}`, byProgram)
}

function unclearCall(why: string, byProgram: boolean): UnclearCall {
  return { why, violations: [], isFromProgram: byProgram }
}
