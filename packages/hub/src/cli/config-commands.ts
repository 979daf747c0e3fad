/** `parley config check | print | schema`: inspects the configuration without starting the hub. */
import type { Command } from './command.ts'
import { configFlags, listenFlags } from './config-flags.ts'

export const configCheck: Command = {
  name: 'config check',
  summary: 'Validates the configuration and lists all errors.',
  details: ['-c, --config <file>   Default: parley.yaml, parley.yml or parley.json in this folder.'],
  flags: { ...configFlags, ...listenFlags },
  async run(flags, terminal) {
    const { readValidConfig } = await import('./cli-settings.ts')
    const loaded = await readValidConfig(flags, terminal)
    const names = Object.keys(loaded.config.agents)
    terminal.print(`${loaded.file ?? 'The default configuration'} is valid: ${names.join(', ')}.`)
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
    terminal.print(printConfig(loaded, await loadKinds()).trimEnd())
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
    terminal.print(JSON.stringify(editorSchema(await loadKinds()), null, 2))
    return 0
  },
}
