// The parts of the Lightning platform that our components use.

declare module 'lwc' {
  export class LightningElement {
    dispatchEvent(event: Event): boolean
    connectedCallback?(): void
    disconnectedCallback?(): void
  }
  export function api(value: unknown, context: ClassMemberDecoratorContext): void
}

declare module 'lightning/actions' {
  export class CloseActionScreenEvent extends CustomEvent<void> {
    constructor()
  }
}

declare module 'lightning/uiRecordApi' {
  export function notifyRecordUpdateAvailable(records: { recordId: string }[]): Promise<void>
}

declare module '@salesforce/apex/PaydirtEnrichController.enrich' {
  export default function enrich(parameters: { recordId: string; recipe?: string }): Promise<unknown>
}

declare module '@salesforce/apex/PaydirtEnrichController.readStatus' {
  export default function readStatus(parameters: { recordId: string; taskId?: string }): Promise<unknown>
}
