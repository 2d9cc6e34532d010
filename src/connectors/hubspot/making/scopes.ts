/** The rights with which records in use are told from others: an archived record must not be one of them. */
export const tiedScopes = ['crm.objects.deals.read', 'tickets', 'crm.objects.contacts.read'] as const

/** The right to read owners, where records of lists get one. */
export const ownerScope = 'crm.objects.owners.read'
