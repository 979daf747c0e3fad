/** Adds and removes agents in the configuration file, for `parley agent add` and `parley agent remove`. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isMap, isScalar, parseDocument } from 'yaml'
import type { DetectedAgent } from '../../agents/detect/detect.ts'
import { setAgentEntry } from '../../config/edit-agent-entry.ts'
import { nearestName } from '../../config/nearest-name.ts'
import { CliError } from '../command.ts'

type NewAgentEntry = Pick<DetectedAgent, 'kind' | 'entry'>

/** Returns the text of the file with the entry added. JSON stays JSON. */
export function insertAgentEntry(text: string, name: string, { kind, entry }: NewAgentEntry, isJson = false): string {
  if (agentNamesIn(text).includes(name)) {
    throw new CliError(`The agent ${name} already exists: choose another name with --name.`)
  }
  if (!isJson) requireEditableYaml(text)
  return setAgentEntry(text, name, { kind, ...entry }, isJson)
}

/** With unique keys: an entry must not be added to one of two `agents`. */
function requireEditableYaml(text: string): void {
  const { errors, contents } = parseDocument(text)
  if (errors.length > 0) throw new CliError('The configuration is not valid YAML: see `parley config check`.')
  if (contents !== null && !isMap(contents))
    throw new CliError('The configuration is not a mapping: see `parley config check`.')
}

/** The agent names in use. Empty for a text that cannot be parsed: writing to it reports the error. JSON is YAML, too. */
export function agentNamesIn(text: string): readonly string[] {
  const agents = parseDocument(text).get('agents')
  return isMap(agents) ? agents.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : []
}

export function writeAgentEntry(file: string, name: string, entry: NewAgentEntry): void {
  replaceFile(file, insertAgentEntry(textOfFile(file), name, entry, file.endsWith('.json')))
}

export function removeAgentEntry(file: string, name: string): void {
  const text = textOfFile(file)
  const isJson = file.endsWith('.json')
  if (!isJson) requireEditableYaml(text)
  const names = agentNamesIn(text)
  if (!names.includes(name)) {
    const nearest = nearestName(name, names)
    const known = nearest === undefined ? `it has ${names.join(', ') || 'none'}` : `did you mean ${nearest}?`
    throw new CliError(`${file} has no agent ${name}: ${known}`)
  }
  replaceFile(file, setAgentEntry(text, name, undefined, isJson))
}

/** Atomically: a hub that watches the file must not read half of it. */
function replaceFile(file: string, text: string): void {
  const temporaryFile = `${file}.new`
  writeFileSync(temporaryFile, text)
  renameSync(temporaryFile, file)
}

export function textOfFile(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
