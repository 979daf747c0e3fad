/** `parley config check | print | schema`: inspects the configuration without starting the hub. */
import { CliError, exitCodes, type Command } from './command.ts'
import { commandText } from './command-text.ts'
import { configFlags, listenFlags } from './config-flags.ts'
import { outputDetails, outputFlags, printResult, wantsJson } from './output.ts'

export const configCheck: Command = {
  name: 'config check',
  summary: 'Validates the configuration and lists all errors.',
  details: [
    '-c, --config <file>     Default: parley.yaml, parley.yml or parley.json in this folder.',
    '--host, --port, --grpc-port, --store, --data   Override the configuration.',
    ...outputDetails,
  ],
  flags: { ...configFlags, ...listenFlags, ...outputFlags },
  async run(flags, terminal) {
    const [{ problemLines, readConfig }, { hubReferencesIn }, { formatPath }] = await Promise.all([
      import('./cli-settings.ts'),
      import('../config/secrets/hub-references.ts'),
      import('../config/config-problem.ts'),
    ])
    const loaded = await readConfig(flags, terminal)
    if ('problems' in loaded) {
      const { file, problems } = loaded
      if (!wantsJson(flags)) throw new CliError(problemLines(problems, file).join('\n'))
      const shown = problems.map(({ path, line, message }) => ({ line, path: formatPath(path), message }))
      printResult(flags, terminal, { file, isValid: false, problems: shown }, () => [])
      return exitCodes.failure
    }
    const names = Object.keys(loaded.config.agents)
    const hubSecrets = hubReferencesIn([...loaded.references.values()])
    printResult(flags, terminal, { file: loaded.file, isValid: true, agents: names, hubSecrets }, () => [
      `${loaded.file ?? 'The default configuration'} is valid: ${names.join(', ')}.`,
      ...(hubSecrets.length === 0
        ? []
        : [
            `Kept by the hub, and not checked here: ${hubSecrets.join(', ')}. \`${commandText(flags, terminal, 'secret list')}\` shows which are set.`,
          ]),
    ])
    return 0
  },
}

export const configPrint: Command = {
  name: 'config print',
  summary: 'Shows the configuration with all defaults, without secrets.',
  details: configCheck.details ?? [],
  flags: configCheck.flags,
  async run(flags, terminal) {
    const [{ loadKinds, readValidConfig }, { printConfig }] = await Promise.all([
      import('./cli-settings.ts'),
      import('../config/print-config.ts'),
    ])
    const loaded = await readValidConfig(flags, terminal)
    const text = printConfig(loaded, await loadKinds()).trimEnd()
    if (wantsJson(flags)) {
      const { parse } = await import('yaml')
      terminal.printData(JSON.stringify(parse(text), null, 2))
    } else terminal.printData(text)
    return 0
  },
}

export const configJsonSchema: Command = {
  name: 'config schema',
  summary: 'Prints the JSON Schema of the configuration, for editors.',
  flags: {},
  async run(_flags, terminal) {
    const [{ loadKinds }, { editorSchema }] = await Promise.all([
      import('./cli-settings.ts'),
      import('../config/json-schema.ts'),
    ])
    terminal.printData(JSON.stringify(editorSchema(await loadKinds()), null, 2))
    return 0
  },
}
