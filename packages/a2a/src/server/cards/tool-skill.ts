/** Converts a tool to a skill of a card: with a readable name, and tags for its category (S0-26). */
import type { AgentSkill } from '../../model/card.ts'

/** A tool, as its own protocol describes it. */
export interface ToolDescription {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
}

/** Matched against the words of the name; the first match wins. */
const categories: readonly (readonly [tag: string, words: RegExp])[] = [
  ['search', /^(search|find|query|lookup|discover|grep)$/],
  ['messages', /^(send|message|notify|reply|mail|email|post|chat|ask)$/],
  ['memory', /^(remember|recall|memory|memories|note|notes|forget)$/],
  ['write', /^(create|add|write|update|set|put|edit|insert|upload|delete|remove|save|move|rename|toggle)$/],
  ['run', /^(run|exec|execute|start|stop|trigger|call|invoke|build|deploy|simulate)$/],
  ['compute', /^(sum|calculate|compute|convert|count|compare|evaluate|eval|gzip|hash|parse)$/],
  ['read', /^(get|read|list|fetch|show|describe|view|load|download|open|echo|print)$/],
]

/**
 * Converts a tool to a skill of a card. `from` is the kind of tool, such as `mcp`, `agent` or `function`, and becomes a
 * tag.
 */
export function skillOfTool({ name, title, description }: ToolDescription, from: string): AgentSkill {
  const shown = title !== undefined && title !== '' ? title : readableName(name)
  return {
    id: name,
    name: shown,
    description: description !== undefined && description !== '' ? description : shown,
    tags: ['tool', from, categoryOf(name)],
  }
}

/** The name of a tool for people: `getUserName`, `get_user_name` and `get-user-name` are all "Get user name". */
export function readableName(name: string): string {
  const words = wordsOf(name).map((word, index) => (isAcronym(word) || index === 0 ? word : word.toLowerCase()))
  const text = words.join(' ')
  return text === '' ? name : text.charAt(0).toUpperCase() + text.slice(1)
}

function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

const isAcronym = (word: string): boolean => /^\p{Lu}{2,}\p{N}*$/u.test(word)

function categoryOf(name: string): string {
  const words = wordsOf(name).map((word) => word.toLowerCase())
  return categories.find(([, fitting]) => words.some((word) => fitting.test(word)))?.[0] ?? 'general'
}
