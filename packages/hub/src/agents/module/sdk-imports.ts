/**
 * Lets modules of the operator import `@parley/a2a` without installing it: where their folder has no such package, they get the hub's own. A
 * hub that `npx` runs, a bundle and an executable so need no node_modules beside an agent. An installed copy wins.
 */
import { registerHooks } from 'node:module'

type Resolve = NonNullable<Parameters<typeof registerHooks>[0]['resolve']>

let isRegistered = false

/** Call it before the first module is imported. */
export function offerSdkToModules(): void {
  if (isRegistered) return
  isRegistered = true
  registerHooks({ resolve })
}

const resolve: Resolve = (specifier, context, next) => {
  if (!/^@parley\/a2a(\/|$)/.test(specifier)) return next(specifier, context)
  try {
    return next(specifier, context)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    return next(specifier, { ...context, parentURL: import.meta.url })
  }
}
