/** The packages as users get them: built and packed once for this suite, and removed at its end. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import { promisify } from 'node:util'
import { buildConsole } from '../../scripts/build-console.ts'
import { buildPackages } from '../../scripts/build-packages.ts'
import { packPackages, type PackedPackage } from '../../scripts/pack-packages.ts'

export const run = promisify(execFile)
export const root = join(import.meta.dirname, '../..')

/** Without the variables of npm and of the test runner, which change how a program behaves. */
export const cleanEnvironment = { PATH: process.env['PATH'] }

export interface PackedPackages {
  /** Below node_modules, so that programs in it find third-party dependencies as they would in a user's project. */
  readonly scratch: string
  readonly packages: readonly PackedPackage[]
  /** The path of the archive of a package. */
  archive(name: string): string
}

let packed: Promise<PackedPackages> | undefined

export function packedPackages(): Promise<PackedPackages> {
  return (packed ??= pack())
}

async function pack(): Promise<PackedPackages> {
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const scratch = await mkdtemp(join(cache, 'parley-package-'))
  await buildPackages()
  await buildConsole()
  const packages = await packPackages(scratch)
  const archive = (name: string): string => join(scratch, packages.find((one) => one.name === name)?.filename ?? '')
  for (const { name } of packages) await extract(archive(name), join(scratch, 'node_modules', name))
  return { scratch, packages, archive }
}

export async function extract(archive: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1'])
}

after(async () => {
  const { scratch } = (await packed) ?? {}
  if (scratch !== undefined) await rm(scratch, { recursive: true, force: true })
})
