/** `parley config check | print | schema`: inspects the configuration without starting the hub. */
import { formatPath, type ConfigProblem } from '../config/config-problem.ts'
import { editorSchema } from '../config/json-schema.ts'
import { printConfig } from '../config/print-config.ts'
import { hubReferencesIn } from '../config/secrets/hub-references.ts'
import { knownSections, lacksOnlySecrets, loadKinds, problemLines, readConfig } from './cli-settings.ts'
import { CliError, exitCodes, type Flags, type Terminal } from './command.ts'
import { commandText } from './command-text.ts'
import { printResult, wantsJson } from './output.ts'

export async function checkConfiguration(flags: Flags, terminal: Terminal): Promise<number> {
  const loaded = await readConfig(flags, terminal)
  const shown = ({ path, line, message }: ConfigProblem) => ({ line, path: formatPath(path), message })
  if ('problems' in loaded && !lacksOnlySecrets(loaded)) {
    const { file, problems } = loaded
    if (!wantsJson(flags)) throw new CliError(problemLines(problems, file).join('\n'))
    printResult(flags, terminal, { file, isValid: false, problems: problems.map(shown) }, () => [])
    return exitCodes.failure
  }
  const { agents, store } = knownSections(loaded)
  const names = Object.keys(agents ?? {})
  // Not an error here: it is often set only where the hub runs.
  const masterKey = store !== undefined && 'masterKey' in store ? store.masterKey : undefined
  const lacksMasterKey = store?.url.startsWith('postgres') === true && !masterKey
  const notRead = loaded.unread.map(shown)
  const settings = [...new Set(notRead.map(({ path }) => path))]
  const hubSecrets = hubReferencesIn([...loaded.references.values()])
  printResult(flags, terminal, { file: loaded.file, isValid: true, agents: names, hubSecrets, notRead }, () => [
    `${loaded.file ?? 'The default configuration'} is valid: ${names.join(', ')}.`,
    ...(settings.length === 0
      ? []
      : [
          `Not read, and not checked here: ${settings.join(', ')}. --run-secrets starts the programs and modules that provide them.`,
        ]),
    ...(hubSecrets.length === 0
      ? []
      : [
          `Kept by the hub, and not checked here: ${hubSecrets.join(', ')}. \`${commandText(flags, terminal, 'secret list')}\` shows which are set.`,
        ]),
    ...(lacksMasterKey
      ? ['PARLEY_MASTER_KEY is not set here: with PostgreSQL, the hub does not start without it.']
      : []),
  ])
  return 0
}

export async function printConfiguration(flags: Flags, terminal: Terminal): Promise<number> {
  const loaded = await readConfig(flags, terminal)
  // Throws if it is invalid. A secret that was not read is printed as its reference, as all are.
  knownSections(loaded)
  const text = printConfig(loaded, await loadKinds()).trimEnd()
  if (wantsJson(flags)) {
    const { parse } = await import('yaml')
    terminal.printData(JSON.stringify(parse(text), null, 2))
  } else terminal.printData(text)
  return 0
}

export async function printConfigurationSchema(_flags: Flags, terminal: Terminal): Promise<number> {
  terminal.printData(JSON.stringify(editorSchema(await loadKinds()), null, 2))
  return 0
}
