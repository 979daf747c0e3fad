/** A part of a page that is loaded when it is first shown, with retries while the hub is unreachable. */
import { signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { loadWithRetry } from '../../api/load-with-retry.ts'
import { Loading } from '../status/error-notice.tsx'

export function lazyView<Props extends object>(
  what: string,
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  const loaded = signal<FunctionComponent<Props> | undefined>(undefined)
  let isRequested = false
  return function LazyView(props) {
    if (!isRequested) {
      isRequested = true
      void loadWithRetry(load).then((view) => (loaded.value = view))
    }
    const View = loaded.value
    return View === undefined ? <Loading what={what} shape="text" /> : <View {...props} />
  }
}
