/**
 * What the machines of all journeys share: the packages, built and packed as for npm, a registry that has them, and a global
 * installation from it.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { buildConsole } from '../../scripts/build-console.ts'
import { buildPackages } from '../../scripts/build-packages.ts'
import { packPackages, type PackedPackage } from '../../scripts/pack-packages.ts'
import { startNpmRegistry } from './npm-registry.ts'

export const run = promisify(execFile)
export const root = join(import.meta.dirname, '../..')

export interface Installation {
  /** Has the packages in node_modules. */
  readonly scratch: string
  readonly packages: readonly PackedPackage[]
  /** Of the registry of npm. */
  readonly registry: string
  /** Where `npm install --global` has installed `parley` and `a2a`. */
  readonly prefix: string
}

export async function install(): Promise<{ readonly installed: Installation; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-journeys-'))
  // Programs in `scratch` find third-party dependencies as they would in a user's project.
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const scratch = join(folder, 'packages')
  await buildPackages()
  await buildConsole()
  const packages = await packPackages(scratch)
  const published = packages.map(({ name, filename, integrity }) => ({
    archive: join(scratch, filename),
    integrity,
    folder: join(scratch, 'node_modules', name),
  }))
  for (const one of published) await extract(one.archive, one.folder)
  const registry = await startNpmRegistry(published)
  const prefix = join(scratch, 'global')
  const env = npmEnvironment({ registry: registry.url, prefix, cache: join(scratch, 'npm-cache') })
  await run('npm', ['install', '--global', '@parley/hub', '@parley/cli'], { env, cwd: scratch })
  return {
    installed: { scratch, packages, registry: registry.url, prefix },
    async close() {
      await registry.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Without the variables of npm and of the test runner, which change how a program behaves. */
export const cleanEnvironment = { PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` }

/** For npm, with the registry on loopback. */
export function npmEnvironment({ registry, prefix, cache }: Readonly<Record<'registry' | 'prefix' | 'cache', string>>) {
  return {
    ...cleanEnvironment,
    npm_config_registry: registry,
    npm_config_prefix: prefix,
    npm_config_cache: cache,
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  }
}

/** The path of the archive of a package. */
export function archiveOf({ scratch, packages }: Installation, name: string): string {
  return join(scratch, packages.find((one) => one.name === name)?.filename ?? '')
}

export function manifestOf(
  { scratch }: Installation,
  name: string,
): { readonly exports: Readonly<Record<string, unknown>> } {
  return JSON.parse(readFileSync(join(scratch, 'node_modules', name, 'package.json'), 'utf8')) as { exports: {} }
}

/** Those with code. */
export function entryPointsOf(packed: Installation, name: string): readonly string[] {
  const { exports } = manifestOf(packed, name)
  return Object.keys(exports)
    .filter((path) => !path.endsWith('.json'))
    .map((path) => `${name}${path.slice(1)}`)
}

export async function extract(archive: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1'])
}

// For all files of a run (scripts/test.ts), in its temporary folder, until its stdin ends.
if (import.meta.main) {
  const { installed, close } = await install()
  writeFileSync(join(installed.scratch, 'installation.json'), JSON.stringify(installed))
  console.log(installed.scratch)
  process.stdin.resume().once('end', () => void close())
}
