/** Adds and removes agents in the configuration file, for `parley agent add` and `parley agent remove`. */
import { isMap, parseDocument } from 'yaml'
import { type AgentEntry, agentNamesIn, setAgentEntry } from '../../config/edit-agent-entry.ts'
import { LockedConfigError, type ConfigSource } from '../../config/config-source.ts'
import { UnreadableConfigError } from '../../config/load-config.ts'
import { formatPath, type ConfigProblem } from '../../config/config-problem.ts'
import { nearestName } from '@parley/a2a/command-line'
import { problemLines } from '../cli-settings.ts'
import { CliError } from '../command.ts'

/** `chooseName` gets the names in use. Returns the name. Throws CliError. */
export function addAgentEntry(
  source: ConfigSource,
  entry: AgentEntry,
  chooseName: (names: readonly string[]) => string,
): Promise<string> {
  return editAgents(source, (names) => {
    const name = chooseName(names)
    if (names.includes(name)) {
      throw new CliError(`The agent ${name} already exists: choose another name with --name.`)
    }
    return { name, entry }
  })
}

/** Throws CliError. */
export function removeAgentEntry(source: ConfigSource, name: string): Promise<string> {
  return editAgents(source, (names) => {
    if (names.includes(name)) return { name, entry: undefined }
    const nearest = nearestName(name, names)
    const known = nearest === undefined ? `it has ${names.join(', ') || 'none'}` : `did you mean ${nearest}?`
    throw new CliError(`${source.file} has no agent ${name}: ${known}`)
  })
}

interface AgentEdit {
  readonly name: string
  /** `undefined` removes it. */
  readonly entry: AgentEntry | undefined
}

/** Begins again if the console, an editor or another command has written the file meanwhile. */
async function editAgents(source: ConfigSource, edit: (names: readonly string[]) => AgentEdit): Promise<string> {
  for (;;) {
    const before = readText(source)
    const isJson = source.file.endsWith('.json')
    if (!isJson) requireEditableYaml(before)
    const { name, entry } = edit(agentNamesIn(before))
    const text = setAgentEntry(before, name, entry, isJson)
    await requireNoNewProblems(source, before, text)
    if (await writeText(source, text, before)) return name
  }
}

/** With unique keys: an entry must not be added to one of two `agents`. */
function requireEditableYaml(text: string): void {
  const { errors, contents } = parseDocument(text)
  if (errors.length > 0) throw new CliError('The configuration is not valid YAML: see `parley config check`.')
  if (contents !== null && !isMap(contents))
    throw new CliError('The configuration is not a mapping: see `parley config check`.')
}

/** A valid file stays valid. One that is invalid here may be valid for the hub, whose environment has other variables. */
async function requireNoNewProblems(source: ConfigSource, before: string, text: string): Promise<void> {
  const checked = await source.check(text)
  if (!('problems' in checked)) return
  const current = await source.check(before)
  const keyOf = ({ path, message }: ConfigProblem): string => `${formatPath(path)} ${message}`
  const known = new Set('problems' in current ? current.problems.map(keyOf) : [])
  const added = checked.problems.filter((problem) => !known.has(keyOf(problem)))
  if (added.length > 0) throw new CliError(problemLines(added, undefined).join('\n'))
}

function readText(source: ConfigSource): string {
  try {
    return source.read()
  } catch (reason) {
    throw reason instanceof UnreadableConfigError ? new CliError(`${reason.message}.`) : reason
  }
}

async function writeText(source: ConfigSource, text: string, before: string): Promise<boolean> {
  try {
    return await source.write(text, before)
  } catch (reason) {
    if (reason instanceof LockedConfigError) throw new CliError(`${reason.message}.`)
    const { code, message } = reason as NodeJS.ErrnoException
    throw new CliError(
      `${source.file} cannot be written (${code ?? message}): the file and its folder must exist and be writable.`,
    )
  }
}
