/** The words of the components that several pages share, grouped by component. */

export const loadingStrings = {
  loading: (what: string) => `Loading ${what}…`,
} as const
