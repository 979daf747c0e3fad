/**
 * Which framework an agent is of, by the shape of the object. No `instanceof` and no names of classes: two copies of a package share
 * neither, and nothing is imported.
 */

/** The frameworks whose agents are recognized. Claude's is not an object: export `fromClaude({ query, options })`. */
export type FrameworkName = 'ai-sdk' | 'langgraph' | 'mastra' | 'openai-agents'

/** The framework that an object is an agent of; `undefined` if it is of none. */
export function recognizeFramework(value: unknown): FrameworkName | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const shape = value as Readonly<Record<string, unknown>>
  const has = (...names: readonly string[]): boolean => names.every((name) => typeof shape[name] === 'function')
  if (shape['version'] === 'agent-v1' && has('stream')) return 'ai-sdk'
  if (isGraph(shape) || isGraph(shape['graph'])) return 'langgraph'
  if (shape['component'] === 'AGENT' && has('resumeStream')) return 'mastra'
  const hasLists = Array.isArray(shape['handoffs']) && Array.isArray(shape['tools'])
  return hasLists && has('asTool', 'getSystemPrompt') ? 'openai-agents' : undefined
}

function isGraph(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'lg_is_pregel' in value && value.lg_is_pregel === true
}
