/** Preloaded by `lowest-versions.ts`: every import of the packages that it has installed is resolved from its folder. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const manifest = join(process.env['PARLEY_LOWEST_VERSIONS'] ?? '', 'package.json')
const { dependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
}
const names = Object.keys(dependencies)

registerHooks({
  resolve(specifier, context, nextResolve) {
    const isRedirected = names.some((name) => specifier === name || specifier.startsWith(`${name}/`))
    return nextResolve(specifier, isRedirected ? { ...context, parentURL: pathToFileURL(manifest).href } : context)
  },
})
