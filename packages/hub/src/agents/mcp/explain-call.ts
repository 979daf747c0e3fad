/** The question after an unclear message: lists the tools, or describes the input of the one that is meant. */
import type { Json, AgentMessage } from '@parley/a2a'
import type { Callable } from './callable.ts'
import { fieldLines } from '@parley/a2a/internal'
import type { UnclearCall } from './call-request.ts'

/** Maximum number listed for people; programs get all. */
const maxListedTools = 40
/** Schemas of many tools are too large for a message. */
const schemasChars = 64_000

export function explainUnclearCall(
  { why, violations, partialCall }: UnclearCall,
  callables: readonly Callable[],
): AgentMessage {
  if (partialCall === undefined) {
    const text = `${why}. ${callables.length === 0 ? 'There are none.' : 'There are:'}`
    return { parts: [{ text: [text, ...toolLines(callables)].join('\n') }, { data: { tools: toolsData(callables) } }] }
  }
  const { callable, input } = partialCall
  const { name, inputSchema } = callable
  const text = [`${why}.`, ...fieldLines(inputSchema)].join('\n')
  const data = { tool: name, arguments: input, requestedSchema: inputSchema as Json }
  return {
    parts: [
      { text },
      { data: violations.length > 0 ? { ...data, violations: violations.map((one) => ({ ...one })) } : data },
    ],
  }
}

function toolLines(callables: readonly Callable[]): readonly string[] {
  const lines = callables
    .slice(0, maxListedTools)
    .map(({ name, description }) => `- ${name}: ${firstLine(description)}`)
  const more = callables.length - lines.length
  return more > 0 ? [...lines, `and ${more} more`] : lines
}

function toolsData(callables: readonly Callable[]): Json {
  const whole = callables.map(({ name, title, description, inputSchema }) => ({
    name,
    title,
    description,
    inputSchema,
  }))
  if (JSON.stringify(whole).length <= schemasChars) return whole
  return callables.map(({ name, title }) => ({ name, title }))
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n', 1)
  return line.length > 120 ? `${line.slice(0, 119)}…` : line
}
