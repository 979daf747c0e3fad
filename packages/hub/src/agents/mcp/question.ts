/** What somebody is told whose message is not clear: which tools there are, or what the one that is meant wants. */
import type { AgentMessage, Json } from '@parley/a2a'
import type { Callable } from './callable.ts'
import { fieldLines } from './field-lines.ts'
import type { Unclear } from './request.ts'

/** How many are listed for people; programs get them all. */
const mostLines = 40
/** Schemas of many tools are more than a message should hold. */
const schemasChars = 64_000

export function explain({ why, violations, begun }: Unclear, callables: readonly Callable[]): AgentMessage {
  if (begun === undefined) {
    const text = `${why}. ${callables.length === 0 ? 'There are none.' : 'There are:'}`
    return { parts: [{ text: [text, ...listed(callables)].join('\n') }, { data: { tools: described(callables) } }] }
  }
  const { callable, input } = begun
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

function listed(callables: readonly Callable[]): readonly string[] {
  const lines = callables.slice(0, mostLines).map(({ name, description }) => `- ${name}: ${firstLine(description)}`)
  const more = callables.length - lines.length
  return more > 0 ? [...lines, `and ${more} more`] : lines
}

function described(callables: readonly Callable[]): Json {
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
