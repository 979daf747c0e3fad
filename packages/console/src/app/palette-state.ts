/** Whether the palette is open, and which actions pages add to it. Separate from the palette, which every page would import. */
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

/** Registers actions of the current view with the palette, while the view is shown. */
export function usePaletteActions(actions: readonly PaletteAction[]): void {
  const names = actions.map(({ title }) => title).join('\n')
  useEffect(() => {
    pageActions.value = [...pageActions.peek(), actions]
    return () => {
      pageActions.value = pageActions.peek().filter((one) => one !== actions)
    }
  }, [names])
}
