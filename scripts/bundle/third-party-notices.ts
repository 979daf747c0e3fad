/** The licenses of the packages that a bundle contains, which it must keep: name, version, license and text of each. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'

const root = join(import.meta.dirname, '../..')

interface ThirdPartyPackage {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly author?: string | { readonly name: string }
  readonly dependencies?: Readonly<Record<string, string>>
}

/** The text of NOTICE. Throws if a package has no license. */
export function thirdPartyNotices(inputs: Metafile['inputs']): string {
  const folders = new Set([...bundledFolders(inputs), ...consoleFolders()])
  const notices = [...folders].map(noticeOf).toSorted(([a], [b]) => a.localeCompare(b, 'en'))
  const title = 'Parley is licensed under the Apache License 2.0 (LICENSE). This bundle contains these packages:'
  return [title, ...notices.map(([heading, text]) => `${'-'.repeat(80)}\n${heading}\n\n${text}`)].join('\n\n') + '\n'
}

/** The folders of the packages whose files esbuild has read. */
function bundledFolders(inputs: Metafile['inputs']): readonly string[] {
  return Object.keys(inputs).flatMap((file) => {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []
    return folder === undefined ? [] : [join(root, folder)]
  })
}

/** Vite has built the console, so that esbuild does not see its packages. */
function consoleFolders(): readonly string[] {
  const found = new Set<string>()
  const visit = (folder: string): void => {
    const resolve = createRequire(join(folder, 'package.json'))
    for (const name of Object.keys(readPackage(folder).dependencies ?? {})) {
      if (name.startsWith('@parley/')) continue
      const place = resolve.resolve.paths(name)?.find((path) => existsSync(join(path, name, 'package.json')))
      if (place === undefined) throw new Error(`${name} is not installed`)
      const dependency = join(place, name)
      if (found.has(dependency)) continue
      found.add(dependency)
      visit(dependency)
    }
  }
  visit(join(root, 'packages/console'))
  return [...found]
}

function noticeOf(folder: string): readonly [heading: string, text: string] {
  const { name, version, license, author } = readPackage(folder)
  if (license === undefined) throw new Error(`${name} states no license`)
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  const by = typeof author === 'object' ? author.name : (author ?? 'its authors')
  const text = file === undefined ? `Copyright ${by}` : readFileSync(join(folder, file), 'utf8').trim()
  return [`${name} ${version} (${license})`, text]
}

function readPackage(folder: string): ThirdPartyPackage {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as ThirdPartyPackage
}
