/**
 * The first file that an executable runs: loads the modules of the hub from its assets. Node 24 starts an executable with one CommonJS
 * file. The hub stays ES modules with imports on demand, so that a command loads what it needs, and no file is written.
 */
import { registerHooks } from 'node:module'
import { getAsset, getAssetKeys } from 'node:sea'
import { pathToFileURL } from 'node:url'

/** Below the executable, as if it were a folder: no file of the machine has such a path. */
const base = `${pathToFileURL(process.execPath).href}/`
const sdk = '@parley/a2a'
const assets = new Set(getAssetKeys())

registerHooks({
  resolve(specifier, context, next) {
    const url = context.parentURL?.startsWith(base) === true ? embeddedUrl(specifier, context.parentURL) : undefined
    if (url === undefined && !specifier.startsWith(base)) return next(specifier, context)
    return { url: url ?? specifier, format: 'module', shortCircuit: true }
  },
  load(url, context, next) {
    if (!url.startsWith(base)) return next(url, context)
    return { format: 'module', source: getAsset(url.slice(base.length), 'utf8'), shortCircuit: true }
  },
})

/** Of a module that the executable contains: another chunk, or an entry point of the SDK. */
function embeddedUrl(specifier: string, parent: string): string | undefined {
  if (specifier.startsWith('.')) return new URL(specifier, parent).href
  if (specifier !== sdk && !specifier.startsWith(`${sdk}/`)) return undefined
  const path = `node_modules/${specifier === sdk ? `${sdk}/index` : specifier}.js`
  return assets.has(path) ? base + path : undefined
}

void import(`${base}parley.js`)
