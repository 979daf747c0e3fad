/** What is asked of the fake gateway, and what it answers. */
export type Params = Readonly<Record<string, unknown>>
export type Result =
  | { readonly payload: unknown }
  | { readonly code: string; readonly message: string; readonly details?: object }
