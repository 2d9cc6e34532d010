/** The fields that the package brings to accounts, besides those of all objects: name, type and length. */
export const accountFields = [
  ['Paydirt_Tagline__c', 'string', 255],
  ['Paydirt_Employee_Range__c', 'string', 255],
  ['Paydirt_Legal_Form__c', 'string', 255],
  ['Paydirt_Headquarters__c', 'string', 255],
  ['Paydirt_Followers__c', 'double', 0],
  ['Paydirt_Logo__c', 'url', 255],
  ['Paydirt_Open_Jobs__c', 'double', 0],
  ['Paydirt_News_Items__c', 'double', 0],
  ['Paydirt_Advertisements__c', 'double', 0],
  ['Paydirt_Similar_Companies__c', 'textarea', 4000],
] as const
