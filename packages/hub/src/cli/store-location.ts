/**
 * Which store a command works on, for commands that open it without the hub: `--store`, `--data`, or the configuration. Only the
 * section `store` has to be valid: a backup job does not have the API keys of the agents in its environment.
 */
import { isStruct } from '@parley/a2a'
import { resolve } from 'node:path'
import { demoConfig } from '../demo/index.ts'
import { checkStoreSection, configBaseDir, defaultDataDir } from '../config/check-config.ts'
import { loadConfig } from '../config/load-config.ts'
import type { StoreSettings } from '../store/open-store.ts'
import { readCommandSync } from '../config/secrets/command-provider.ts'
import { configFile, dataDirectory, overridesOf, problemLines, secretRoots } from './cli-settings.ts'
import { programEnvironment } from './program-environment.ts'
import { CliError, type Flags, type Terminal } from './command.ts'

/** Throws CliError with the problems of the section `store`. */
export function readStoreSettings(flags: Flags, terminal: Terminal): StoreSettings {
  const { environment, cwd } = terminal
  // `--data DIR` alone names the SQLite file in that directory, whatever the configuration in this folder says.
  const isDirectory = flags.value('data') !== undefined && flags.value('config') === undefined
  const file = isDirectory ? undefined : configFile(flags, terminal)
  const overrides = overridesOf(flags, isDirectory ? { ...environment, PARLEY_STORE: undefined } : environment)
  const baseDir = file === undefined ? cwd : configBaseDir(resolve(cwd, file))
  const dataDir = dataDirectory(flags, terminal)
  const loaded = loadConfig({
    file,
    fallback: demoConfig,
    environment,
    overrides,
    cwd,
    dataDir,
    kinds: [],
    secretRoots: secretRoots(environment),
    // The command needs nothing else, and runs once: it may wait for the program.
    secrets: ({ provider, name }) =>
      provider.command === undefined
        ? undefined
        : readCommandSync(provider, name, { cwd: baseDir, env: programEnvironment(environment) }),
  })
  const problems = 'problems' in loaded ? loaded.problems.filter(({ path }) => isStoreProblem(path)) : []
  if (problems.length > 0) throw new CliError(problemLines(problems, file).join('\n'))
  const section = isStruct(loaded.tree) ? loaded.tree['store'] : undefined
  const { url, direct, masterKey, previousMasterKeys } = checkStoreSection(section, baseDir)
  return {
    store: url,
    dataDir: dataDir === undefined ? resolve(baseDir, defaultDataDir) : resolve(cwd, dataDir),
    directStore: direct,
    masterKey,
    previousMasterKeys,
  }
}

/** A problem without a path is about the whole file. */
function isStoreProblem([section]: readonly (string | number)[]): boolean {
  return section === undefined || section === 'store'
}
