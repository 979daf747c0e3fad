/**
 * The position of a cursor in a YAML text: the keys around it, what is typed, and the other keys of each mapping. Uses the
 * indentation of the lines above (block style), and the braces of the same line (flow style).
 */
import { positionAt } from './text-edits.ts'

/** One step from the root. */
export interface YamlStep {
  /** A key, or `[]` for a list item. */
  readonly key: string
  /** The keys of the mapping that contains `key`, with their values. */
  readonly siblings: ReadonlyMap<string, string>
}

export interface YamlPosition {
  readonly path: readonly YamlStep[]
  /** The key whose value is at the cursor; `undefined` while a key is typed. */
  readonly key: string | undefined
  /** What is typed before the cursor. */
  readonly word: string
  /** The other keys of the mapping at the cursor. */
  readonly siblings: ReadonlyMap<string, string>
  /** Columns that nested lines have to be indented by. */
  readonly indent: number
  readonly isFlow: boolean
}

interface YamlLine {
  readonly indent: number
  readonly isItem: boolean
  readonly key: string | undefined
  readonly value: string
}

/** Keys of configurations; quoted keys are not completed. */
const typedBlock = /^((?: |- )*)(?:([\w$.~-]+):\s+)?([\w$.~-]*)$/

export function yamlPositionAt(text: string, offset: number): YamlPosition | undefined {
  const lines = text.split('\n')
  const { line: number, column } = positionAt(text, offset)
  const line = lines[number - 1] ?? ''
  const typed = line.slice(0, column - 1)
  const flow = flowStart(typed)
  if (flow !== undefined) return flowPositionAt(lines, number - 1, flow, typed)
  const parts = typedBlock.exec(typed)
  if (parts === null) return undefined
  const [, lead = '', key, word = ''] = parts
  return {
    path: parentsOf(lines, number - 1, lead.length),
    key,
    word,
    siblings: siblingsOf(lines, number - 1, lead.length),
    indent: lead.length,
    isFlow: false,
  }
}

/** The key at the cursor, or the one of its line, with the position before it. */
export function yamlKeyAt(text: string, offset: number): (YamlPosition & { readonly key: string }) | undefined {
  const { line: number, column } = positionAt(text, offset)
  const lines = text.split('\n')
  const line = lines[number - 1] ?? ''
  // The end of the word, so that a cursor within a key finds the whole key.
  const rest = /^[\w$.~-]*/.exec(line.slice(column - 1))?.[0] ?? ''
  const typed = line.slice(0, column - 1 + rest.length)
  const flow = flowStart(typed)
  if (flow !== undefined) {
    const found = flowPositionAt(lines, number - 1, flow, typed)
    if (found === undefined) return undefined
    const key = found.key ?? (/^\s*:/.test(line.slice(typed.length)) ? found.word : undefined)
    return key === undefined || key === '' ? undefined : { ...found, key }
  }
  const own = parseLine(line)
  if (own?.key === undefined) return undefined
  return {
    path: parentsOf(lines, number - 1, own.indent),
    key: own.key,
    word: '',
    siblings: new Map([...siblingsOf(lines, number - 1, own.indent), [own.key, own.value]]),
    indent: own.indent,
    isFlow: false,
  }
}

function parseLine(line: string): YamlLine | undefined {
  if (/^\s*(#|$)/.test(line)) return undefined
  const [, lead = '', key, value = ''] = /^((?: |- )*)(?:([\w$.~-]+):(?:\s+(.*))?$)?/.exec(line) ?? []
  return { indent: lead.length, isItem: lead.includes('-'), key, value: value.replace(/(^|\s+)#.*$/, '').trim() }
}

/** The parents of a line, outermost first. */
function parentsOf(lines: readonly string[], index: number, indent: number): readonly YamlStep[] {
  const path: YamlStep[] = []
  const none: ReadonlyMap<string, string> = new Map()
  let within = indent
  if (/^ *- /.test(lines[index] ?? '')) {
    path.unshift({ key: '[]', siblings: none })
    within = (lines[index] ?? '').indexOf('-') + 1
  }
  for (let at = index - 1; at >= 0 && within > 0; at -= 1) {
    const line = parseLine(lines[at] ?? '')
    if (line === undefined) continue
    const dash = line.isItem ? (lines[at] ?? '').indexOf('-') : -1
    if (line.indent < within && line.key !== undefined && line.value === '') {
      path.unshift({ key: line.key, siblings: siblingsOf(lines, at, line.indent) })
      within = line.indent
    }
    if (dash >= 0 && dash < within) {
      if (path[0]?.key !== '[]' || line.indent === within) path.unshift({ key: '[]', siblings: none })
      within = dash + 1
    }
  }
  return path
}

/** The other keys of the same mapping, with their values. */
function siblingsOf(lines: readonly string[], index: number, indent: number): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const look = (from: number, step: 1 | -1): void => {
    for (let at = from; at >= 0 && at < lines.length; at += step) {
      const line = parseLine(lines[at] ?? '')
      if (line === undefined) continue
      if (line.indent < indent) return
      if (line.indent === indent && line.isItem && step === 1) return
      if (line.indent === indent && line.key !== undefined) found.set(line.key, line.value)
      if (line.indent === indent && line.isItem) return
    }
  }
  if (!/^ *- /.test(lines[index] ?? '')) look(index - 1, -1)
  look(index + 1, 1)
  return found
}

/** The first brace or bracket that begins a value, outside of quotes and comments. */
function flowStart(typed: string): number | undefined {
  const [lead = ''] = /^(?: |- )*(?:[\w$.~-]+:\s+)?/.exec(typed) ?? []
  return /^[{[]/.test(typed.slice(lead.length)) ? lead.length : undefined
}

interface FlowFrame {
  readonly isMap: boolean
  readonly start: number
  key: string | undefined
  word: string
}

function flowPositionAt(
  lines: readonly string[],
  index: number,
  start: number,
  typed: string,
): YamlPosition | undefined {
  const line = lines[index] ?? ''
  const frames = openFrames(typed, start)
  const last = frames.at(-1)
  if (last === undefined) return undefined
  const own = parseLine(line)
  const base: YamlStep[] = [...parentsOf(lines, index, own?.indent ?? 0)]
  if (own?.key !== undefined) base.push({ key: own.key, siblings: siblingsOf(lines, index, own.indent) })
  for (const frame of frames.slice(0, -1)) base.push(stepOf(frame, line))
  if (!last.isMap) return undefined
  const siblings = new Map(pairsFrom(line, last.start))
  if (last.key === undefined) siblings.delete(last.word)
  return { path: base, key: last.key, word: last.word, siblings, indent: 0, isFlow: true }
}

function stepOf({ isMap, key = '', start }: FlowFrame, line: string): YamlStep {
  return isMap ? { key, siblings: pairsFrom(line, start) } : { key: '[]', siblings: new Map() }
}

/** The braces that are open at the end; `undefined` stands for a position within quotes. */
function openFrames(typed: string, start: number): readonly FlowFrame[] {
  const frames: FlowFrame[] = []
  let quote = ''
  for (let at = start; at < typed.length; at += 1) {
    const char = typed[at] ?? ''
    const frame = frames.at(-1)
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '{' || char === '[') frames.push({ isMap: char === '{', start: at, key: undefined, word: '' })
    else if (char === '}' || char === ']') frames.pop()
    else if (frame === undefined) continue
    else if (char === ',') Object.assign(frame, { key: undefined, word: '' })
    else if (char === ':' && /^(\s|$)/.test(typed.slice(at + 1)) && frame.key === undefined) {
      Object.assign(frame, { key: frame.word, word: '' })
    } else if (char !== ' ') frame.word += char
  }
  return quote === '' ? frames : []
}

function pairsFrom(line: string, start: number): ReadonlyMap<string, string> {
  const inside = /^\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)/.exec(line.slice(start))?.[1] ?? ''
  return new Map(
    [...inside.matchAll(/([\w$.~-]+)\s*:\s*([^,{}]*)/g)].map(([, key = '', value = '']) => [key, value.trim()]),
  )
}
