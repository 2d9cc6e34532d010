interface PackageField {
  readonly name: string
  readonly type: 'string' | 'textarea' | 'double' | 'url' | 'date' | 'datetime' | 'picklist'
  readonly length: number
  readonly scale?: number
  readonly picklist?: readonly string[]
}

/** The fields that the package brings to accounts, besides those of all objects. */
export const accountFields: readonly PackageField[] = [
  { name: 'Paydirt_Tagline__c', type: 'string', length: 255 },
  { name: 'Paydirt_Employee_Range__c', type: 'string', length: 255 },
  { name: 'Paydirt_Legal_Form__c', type: 'string', length: 255 },
  { name: 'Paydirt_Headquarters__c', type: 'string', length: 255 },
  { name: 'Paydirt_Followers__c', type: 'double', length: 0 },
  { name: 'Paydirt_Logo__c', type: 'url', length: 255 },
  { name: 'Paydirt_Open_Jobs__c', type: 'double', length: 0 },
  { name: 'Paydirt_News_Items__c', type: 'double', length: 0 },
  { name: 'Paydirt_Advertisements__c', type: 'double', length: 0 },
  { name: 'Paydirt_Similar_Companies__c', type: 'textarea', length: 4000 },
  { name: 'Paydirt_Expansion_Stage__c', type: 'string', length: 255 },
  { name: 'Paydirt_Expansion_Direction__c', type: 'string', length: 255 },
  { name: 'Paydirt_Expansion_Markets__c', type: 'string', length: 255 },
  { name: 'Paydirt_Open_Jobs_Change_30d__c', type: 'double', length: 0 },
  { name: 'Paydirt_Last_News_At__c', type: 'date', length: 0 },
  { name: 'Paydirt_Last_News_Title__c', type: 'string', length: 255 },
  { name: 'Paydirt_Advertising__c', type: 'picklist', length: 255, picklist: ['Yes', 'No'] },
  { name: 'Paydirt_Cloud_Providers__c', type: 'string', length: 255 },
  { name: 'Paydirt_Signal_Score__c', type: 'double', length: 0, scale: 2 },
  { name: 'Paydirt_Signal_Score_Change_7d__c', type: 'double', length: 0, scale: 2 },
  { name: 'Paydirt_Signal_Reason__c', type: 'textarea', length: 2000 },
  { name: 'Paydirt_Signals_Checked_At__c', type: 'datetime', length: 0 },
]
