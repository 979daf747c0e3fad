/**
 * Which store a command works on, for commands that open it without the hub: `--store`, `--data`, or the configuration. Only the
 * section `store` has to be valid: a backup job does not have the API keys of the agents in its environment.
 */
import { isStruct } from '@parley/a2a/internal'
import { resolve } from 'node:path'
import { demoConfig } from '../demo/index.ts'
import { checkStoreSection, configBaseDir, defaultDataDir } from '../config/check-config.ts'
import type { StoreSettings } from '../store/open-store.ts'
import { loadWithSecrets } from '../config/secrets/load-with-secrets.ts'
import {
  configFile,
  dataDirectory,
  overridesOf,
  problemLines,
  requireRead,
  secretReader,
  secretRoots,
} from './cli-settings.ts'
import { CliError, type Flags, type Terminal } from './command.ts'

/** Throws CliError with the problems of the section `store`, or if a secret there was not read. */
export async function readStoreSettings(flags: Flags, terminal: Terminal): Promise<StoreSettings> {
  const { environment, cwd } = terminal
  // `--data DIR` alone names the SQLite file in that directory, whatever the configuration in this folder says.
  const isDirectory = flags.value('data') !== undefined && flags.value('config') === undefined
  const file = isDirectory ? undefined : configFile(flags, terminal)
  const overrides = overridesOf(flags, isDirectory ? { ...environment, PARLEY_STORE: undefined } : environment)
  const baseDir = file === undefined ? cwd : configBaseDir(resolve(cwd, file))
  const dataDir = dataDirectory(flags, terminal)
  const roots = secretRoots(environment)
  const options = { file, fallback: demoConfig, environment, overrides, cwd, dataDir, kinds: [], secretRoots: roots }
  const loaded = await loadWithSecrets(options, secretReader(flags, terminal))
  requireRead({ ...loaded, file }, 'store')
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
