/** A git repository in a temporary folder, with our scripts and tools, for the tests of the scripts. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'

export interface ScratchRepository {
  readonly root: string
  write(path: string, text: string): void
  git(...args: readonly string[]): string
}

/** No variables of the test runner, nor of a git hook that runs the tests. */
export const scratchEnv = { PATH: process.env['PATH'] }

const tsconfig = {
  compilerOptions: {
    noEmit: true,
    strict: true,
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  },
  include: ['packages'],
}

/** Commits `files` as HEAD. The folder is removed after the tests. */
export function createScratchRepository(files: Readonly<Record<string, string>>): ScratchRepository {
  const root = mkdtempSync(join(tmpdir(), 'parley-scripts-'))
  after(() => rmSync(root, { recursive: true, force: true }))
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const git = (...args: readonly string[]): string => {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com']
    return execFileSync('git', [...identity, ...args], { cwd: root, env: scratchEnv, encoding: 'utf8' })
  }
  cpSync(import.meta.dirname, join(root, 'scripts'), { recursive: true, filter: (path) => !path.endsWith('.test.ts') })
  cpSync(join(import.meta.dirname, '../.githooks'), join(root, '.githooks'), { recursive: true })
  const modules = join(import.meta.dirname, '../node_modules')
  mkdirSync(join(root, 'node_modules'))
  for (const name of ['.bin', '@types', 'undici-types'])
    symlinkSync(join(modules, name), join(root, 'node_modules', name))
  for (const name of ['.oxfmtrc.json', '.oxlintrc.json'])
    cpSync(join(import.meta.dirname, '..', name), join(root, name))
  write('package.json', '{ "type": "module" }\n')
  write('tsconfig.json', JSON.stringify(tsconfig))
  write('.gitignore', 'node_modules\n')
  for (const [path, text] of Object.entries(files)) write(path, text)
  git('init', '-q')
  git('add', '-A')
  git('commit', '-q', '-m', 'All')
  return { root, write, git }
}
