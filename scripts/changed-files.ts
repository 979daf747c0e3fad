/** The files that differ from git's HEAD, or from the index, as paths relative to the repository, without deleted files. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, statSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'

/** Tracked files that differ from HEAD, and new files that git does not ignore. */
export function changedFiles(root: string): readonly string[] {
  const tracked = git(root, 'diff', '--name-only', '--no-renames', '-z', 'HEAD')
  const untracked = git(root, 'ls-files', '--others', '--exclude-standard', '-z')
  return [...new Set([...tracked, ...untracked])].filter((file) => existsSync(join(root, file))).sort()
}

/** Files in the index that differ from HEAD: the content of a commit. */
export function stagedFiles(root: string): readonly string[] {
  return git(root, 'diff', '--cached', '--name-only', '--no-renames', '--diff-filter=d', '-z')
}

/** The files at `paths`, which are relative to `cwd`; a folder means all files in it. Throws if a path does not exist. */
export function filesAt(root: string, cwd: string, paths: readonly string[]): readonly string[] {
  const files = paths.flatMap((path) => {
    const full = resolve(cwd, path)
    if (!existsSync(full)) throw new Error(`${path}: no such file or folder`)
    if (!statSync(full).isDirectory()) return [full]
    return globSync('**/*.*', { cwd: full, exclude: ['**/node_modules/**', '**/dist/**'] }).map((name) =>
      join(full, name),
    )
  })
  return [...new Set(files.map((file) => relative(root, file).split(sep).join('/')))].sort()
}

function git(root: string, ...args: readonly string[]): readonly string[] {
  const text = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  return text.split('\0').filter((file) => file !== '')
}
