/** Whether the search is open, and what pages add to it. Apart from the search itself, which everybody would import. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

export interface PaletteAction {
  readonly title: string
  run(): void
}

export const isPaletteOpen = signal(false)
export const pageActions = signal<readonly (readonly PaletteAction[])[]>([])

export function openPalette(): void {
  isPaletteOpen.value = true
}

/** What can be done here, to be found by its name while this is shown. */
export function useActions(actions: readonly PaletteAction[]): void {
  const names = actions.map(({ title }) => title).join('\n')
  useEffect(() => {
    pageActions.value = [...pageActions.peek(), actions]
    return () => {
      pageActions.value = pageActions.peek().filter((one) => one !== actions)
    }
  }, [names])
}
