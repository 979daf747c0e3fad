/**
 * Which call a message means. Programs say it with data, `{ tool, arguments }`, or name the tool as the skill and give its
 * arguments alone; people write `tool(arguments)`, `tool name=value`, or, where one text is all that is wanted, the text.
 */
import type { Json, Message, Struct, Violation } from '@parley/a2a'
import type { Callable } from './callable.ts'
import { violationsIn, worded } from './violations.ts'
import { argumentsIn, fieldsOf, inputIn, isStruct, jsonIn, requiredOf } from './words.ts'

export interface Said {
  readonly message: Message
  /** Of the request, beside the message's own. */
  readonly metadata: Struct
  /** What was asked about before, in the same task. */
  readonly pending: Pending | undefined
}

/** A call that somebody has begun to ask for. */
export interface Pending {
  readonly tool: string
  readonly input: Struct
}

export type Request = Wanted | Unclear

export interface Wanted {
  readonly callable: Callable
  readonly input: Struct
}

export interface Unclear {
  /** For whoever asked. */
  readonly why: string
  readonly violations: readonly Violation[]
  /** As far as it is known. */
  readonly begun?: Wanted
  /** Said by a program, which an answer helps more than a question. */
  readonly byProgram: boolean
}

export function readRequest(said: Said, callables: readonly Callable[]): Request {
  const data = said.message.parts.flatMap((part) => ('data' in part ? [part.data] : []))
  const text = textOf(said.message)
  const [first] = data
  if (data.length > 1) return unclear('One call at a time: give one data part', true)
  if (first !== undefined && !isStruct(first)) return unclear('The data has to be an object', true)
  const fromText = first === undefined ? jsonIn(text) : undefined
  const given = first ?? (isStruct(fromText) ? fromText : undefined)
  const byProgram = first !== undefined
  const meant = given === undefined ? inText(text, said, callables) : inData(given, said, callables, byProgram)
  return 'why' in meant ? meant : checked(meant, byProgram)
}

/** The fields that have to be given and are not; where none has to, those that may be. */
export function openFields(schema: Struct, input: Struct): readonly string[] {
  const isOpen = (name: string): boolean => !Object.hasOwn(input, name)
  const required = requiredOf(schema).filter(isOpen)
  return required.length > 0 ? required : Object.keys(fieldsOf(schema)).filter(isOpen)
}

function checked(wanted: Wanted, byProgram: boolean): Request {
  const { callable, input } = wanted
  const violations = violationsIn(input, callable.inputSchema)
  if (violations.length === 0) return wanted
  const why = `${callable.name} cannot be called like that: ${worded(violations)}`
  return { why, violations, begun: wanted, byProgram }
}

function inData(given: Struct, said: Said, callables: readonly Callable[], byProgram: boolean): Request {
  const skill = skillIn(said)
  const envelope = envelopeIn(given)
  if (skill !== undefined) {
    const callable = find(skill, callables)
    if (callable === undefined) return unknown(skill, true)
    const isRepeated = envelope !== undefined && find(envelope.tool, callables) === callable
    return { callable, input: isRepeated ? envelope.input : given }
  }
  if (envelope !== undefined) {
    const callable = find(envelope.tool, callables)
    return callable === undefined ? unknown(envelope.tool, byProgram) : { callable, input: envelope.input }
  }
  const begun = pendingIn(said, callables)
  if (begun !== undefined) return { callable: begun.callable, input: { ...begun.input, ...given } }
  const [only, ...others] = callables
  if (only !== undefined && others.length === 0) return { callable: only, input: given }
  return unclear('Say which tool is to be called: { "tool": "…", "arguments": { … } }', byProgram)
}

/** As MCP itself has it, or with the word that people say. */
function envelopeIn(given: Struct): { readonly tool: string; readonly input: Struct } | undefined {
  const { tool, name, arguments: input = {}, ...others } = given
  const called = tool ?? name
  if (typeof called !== 'string' || !isStruct(input) || Object.keys(others).length > 0) return undefined
  // Without arguments, `name` alone is more likely to be an argument itself.
  if (tool === undefined && !Object.hasOwn(given, 'arguments')) return undefined
  return { tool: called, input }
}

const callForm = /^([^\s(){}[\]"'=,]+)\s*\((.*)\)\s*;?$/s
const wordForm = /^(\S+)\s*(.*)$/s

function inText(whole: string, said: Said, callables: readonly Callable[]): Request {
  const text = whole
    .trim()
    .replaceAll(/^`+|`+$/g, '')
    .trim()
  const skill = skillIn(said)
  if (skill !== undefined) {
    const callable = find(skill, callables)
    return callable === undefined ? unknown(skill, true) : inWords(text, { callable, input: {} })
  }
  const [, called, inner = ''] = callForm.exec(text) ?? []
  const callable = called === undefined ? undefined : find(called, callables)
  if (callable !== undefined) return inWords(inner, { callable, input: {} }, argumentsIn)
  const begun = pendingIn(said, callables)
  if (begun !== undefined) return inWords(text, begun)
  const [, word = '', rest = ''] = wordForm.exec(text) ?? []
  const named = find(word, callables)
  if (named !== undefined) return inWords(rest, { callable: named, input: {} })
  if (called !== undefined) return unknown(called, false)
  const [only, ...others] = callables
  if (only !== undefined && others.length === 0 && text !== '') return inWords(text, { callable: only, input: {} })
  return unclear(text === '' ? 'Say which tool is to be called' : 'It is not clear which tool is meant', false)
}

function inWords(text: string, begun: Wanted, read = inputIn): Request {
  const { callable, input } = begun
  const { inputSchema } = callable
  const given = read(text, inputSchema, openFields(inputSchema, input))
  if (given !== undefined) return { callable, input: { ...input, ...given } }
  return { why: `Say what ${callable.name} is to be called with`, violations: [], begun, byProgram: false }
}

function pendingIn({ pending }: Said, callables: readonly Callable[]): Wanted | undefined {
  const callable = pending === undefined ? undefined : callables.find(({ name }) => name === pending.tool)
  return callable === undefined || pending === undefined ? undefined : { callable, input: pending.input }
}

/** The skill is meant by its id, which is the name of the tool. */
function skillIn({ message, metadata }: Said): string | undefined {
  const ids = [message.metadata?.['skillId'], metadata['skillId']]
  return ids.find((id): id is string & Json => typeof id === 'string' && id !== '')
}

/** By its name, however that is written if only one is meant; or by its title. */
function find(called: string, callables: readonly Callable[]): Callable | undefined {
  const exact = callables.find(({ name }) => name === called)
  if (exact !== undefined) return exact
  const wanted = bare(called)
  if (wanted === '') return undefined
  const alike = callables.filter(({ name, title }) => bare(name) === wanted || bare(title) === wanted)
  return alike.length === 1 ? alike[0] : undefined
}

const bare = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

function unknown(tool: string, byProgram: boolean): Unclear {
  return unclear(`There is no tool ${tool.slice(0, 100)} here`, byProgram)
}

function unclear(why: string, byProgram: boolean): Unclear {
  return { why, violations: [], byProgram }
}

function textOf({ parts }: Message): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
}
